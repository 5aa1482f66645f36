import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type ConnectionOptions } from 'node:tls';
import { systemClock } from './clock';
import { selfSigned } from '@svc/testing';
import { StartError } from './service/start-error';
import { loadTls, tlsClientOptions, tlsServerOptions, watchTls, type TlsMaterial } from './tls';

describe('TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tls-'));
  const file = (name: string) => join(folder, name);
  const files = { cert: file('a.crt'), key: file('a.key') };
  const servers: Server[] = [];
  let mtimeSec = 1_000;
  function write(pair: { cert: string; key: string }) {
    mtimeSec += 1;
    writeFileSync(files.cert, pair.cert);
    writeFileSync(files.key, pair.key);
    for (const path of [files.cert, files.key]) utimesSync(path, mtimeSec, mtimeSec);
  }
  beforeEach(() => write(selfSigned('localhost')));
  afterAll(() => {
    for (const server of servers) server.close();
    rmSync(folder, { recursive: true });
  });

  async function serve(options: object): Promise<number> {
    const server = createServer(options, (_req, res) => res.end());
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }
  const shake = async (port: number, options: ConnectionOptions) => {
    const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', ...options });
    const outcome = await new Promise<string>((resolve) => {
      socket.once('secureConnect', () => resolve(socket.getProtocol() ?? ''));
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
    socket.destroy();
    return outcome;
  };

  it('a client that trusts the CA connects', async () => {
    const port = await serve(tlsServerOptions(await loadTls(files), '1.3'));

    expect(await shake(port, await tlsClientOptions({ ca: files.cert, minVersion: '1.2' }))).toBe('TLSv1.3');
  });

  it('a client without the CA is rejected, unless verification is off', async () => {
    const port = await serve(tlsServerOptions(await loadTls(files), '1.2'));

    expect(await shake(port, await tlsClientOptions({ minVersion: '1.2' }))).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
    expect(await shake(port, await tlsClientOptions({ minVersion: '1.2', insecure: true }))).toBe('TLSv1.3');
  });

  it('a client verifies the expected server name', async () => {
    const port = await serve(tlsServerOptions(await loadTls(files), '1.2'));

    expect(
      await shake(port, await tlsClientOptions({ ca: files.cert, serverName: 'elsewhere', minVersion: '1.2' })),
    ).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  it('versions below the minimum are refused', async () => {
    const port = await serve(tlsServerOptions(await loadTls(files), '1.3'));

    expect(await shake(port, { ca: (await loadTls(files)).cert, maxVersion: 'TLSv1.2' })).toBe(
      'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
    );
  });

  it('returns the expiry of the certificate', async () => {
    expect((await loadTls(files)).notAfterMs).toBe(Date.UTC(2049, 11, 31, 23, 59, 59));
  });

  it.each<[string, () => void]>([
    ['the key does not belong to the certificate', () => writeFileSync(files.key, selfSigned('localhost').key)],
    ['the certificate cannot be used', () => writeFileSync(files.cert, 'nonsense')],
    ['the key cannot be used', () => writeFileSync(files.key, 'nonsense')],
    ['cannot read the key', () => rmSync(files.key)],
  ])('%s: refused, naming the file', async (what, harm) => {
    harm();

    const refusal = await loadTls(files).catch((error: unknown) => error);

    expect(refusal).toBeInstanceOf(StartError);
    expect(refusal).toMatchObject({ message: what, where: expect.stringContaining(folder) });
  });

  describe('watched files', () => {
    const stop = new AbortController();
    const news: unknown[] = [];
    let wake: (() => void) | undefined;
    const clock = { sleep: () => new Promise<void>((resolve) => (wake = resolve)) };
    /** Lets the watcher look once, and resolves when it sleeps again. */
    async function look(): Promise<unknown[]> {
      const before = wake;
      before?.();
      while (wake === before) await systemClock().sleep(1);
      return news.splice(0);
    }
    afterAll(() => {
      stop.abort();
      wake?.();
    });

    it('a new pair is passed on once; an invalid one is reported instead', async () => {
      const record = (what: TlsMaterial | unknown) => void news.push(what);
      void watchTls({ files, clock, onChange: record, onError: record }, stop.signal);
      expect(await look()).toEqual([]);
      const renewed = selfSigned('localhost');

      write(renewed);
      expect(await look()).toMatchObject([{ cert: Buffer.from(renewed.cert) }]);
      expect(await look()).toEqual([]);

      write({ cert: 'nonsense', key: renewed.key });
      expect(await look()).toEqual([expect.any(StartError)]);
    });
  });
});
