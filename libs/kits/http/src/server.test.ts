import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { selfSigned } from '@svc/testing';
import { serve, type ServeOptions } from './server';

const problems: unknown[] = [];
const options: ServeOptions = {
  host: '127.0.0.1',
  port: 0,
  requestTimeoutMs: 5_000,
  idleTimeoutMs: 60_000,
  writeTimeoutMs: 60_000,
  maxConnections: 100,
  maxConnectionsPerAddress: 100,
  onProblem: (problem) => void problems.push(problem),
};

describe('the server', () => {
  it('finishes requests in flight, accepts no more, and closes idle connections', async () => {
    let answer: ServerResponse | undefined;
    const { port, close } = await serve((_req, res) => void (answer = res), options);
    const agent = new Agent({ keepAlive: true });
    const responded = new Promise<IncomingMessage>((resolve) => get({ port, agent }, resolve));
    const idle = connect(port, '127.0.0.1');
    await once(idle, 'connect');
    while (!answer) await new Promise(setImmediate);

    const closed = close(60_000);
    const refused = connect(port, '127.0.0.1');
    await once(refused, 'error');
    answer.end('done');

    expect((await responded).resume().statusCode).toBe(200);
    await closed;
    agent.destroy();
  });

  it.each([
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['headers beyond the limit', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('answers %s in the common error shape, and closes the connection', async (_what, bytes, status) => {
    const { port, close } = await serve((_req, res) => void res.end(), options);
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => void chunks.push(chunk));
    socket.write(bytes);
    await once(socket, 'close');

    const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/^X-Request-Id: [0-9a-f]{16}$/m);
    expect(JSON.parse(body)).toMatchObject({ code: 'invalid_body', status, violations: [{ in: 'request' }] });
    await close(0);
  });

  it('closes unfinished connections after the drain timeout', async () => {
    let asked = false;
    const { port, close } = await serve(() => void (asked = true), options);
    const cut = new Promise<Error>((resolve) => get({ port, agent: false }).on('error', resolve));
    while (!asked) await new Promise(setImmediate);

    await close(1);

    expect(await cut).toMatchObject({ code: 'ECONNRESET' });
  });

  it('431: headers of more than 16 KB', async () => {
    const { port, close } = await serve((_req, res) => res.end(), options);

    const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { 'X-Long': 'x'.repeat(17_000) } });

    expect(response.status).toBe(431);
    await close(0);
  });

  it('an address in use is an error', async () => {
    const first = await serve((_req, res) => res.end(), options);

    await expect(serve((_req, res) => res.end(), { ...options, port: first.port })).rejects.toThrow(/EADDRINUSE/);
    await first.close(0);
  });

  describe('with TLS', () => {
    const dir = mkdtempSync(join(tmpdir(), 'tls-'));
    const [certPath, keyPath] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
    const write = ({ cert, key }: { cert: string; key: string }) => {
      writeFileSync(certPath, cert);
      writeFileSync(keyPath, key);
    };
    const tls = { files: { cert: certPath, key: keyPath }, minVersion: '1.3' } as const;
    const subjectOn = async (port: number, maxVersion: 'TLSv1.2' | 'TLSv1.3' = 'TLSv1.3'): Promise<string> => {
      const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, maxVersion });
      await once(socket, 'secureConnect');
      const { CN } = socket.getPeerCertificate().subject;
      socket.destroy();
      return String(CN);
    };
    beforeEach(() => {
      problems.splice(0);
      write(selfSigned('first'));
    });
    afterAll(() => rmSync(dir, { recursive: true }));

    it('reloads a changed certificate, and keeps the old one while the pair does not match', async () => {
      const { port, close } = await serve((_req, res) => res.end(), { ...options, tls, tlsLookEveryMs: 5 });
      expect(await subjectOn(port)).toBe('first');

      const second = selfSigned('second');
      writeFileSync(certPath, second.cert);
      while (problems.length === 0) await new Promise(setImmediate);
      expect(await subjectOn(port)).toBe('first');
      writeFileSync(keyPath, second.key);
      while ((await subjectOn(port)) !== 'second') await new Promise(setImmediate);

      await close(0);
    });

    it('rejects versions below the minimum', async () => {
      const { port, close } = await serve((_req, res) => res.end(), { ...options, tls });

      await expect(subjectOn(port, 'TLSv1.2')).rejects.toThrow();
      await close(0);
    });

    it('does not start with a key that is not the certificate’s', async () => {
      writeFileSync(keyPath, selfSigned('other').key);

      await expect(serve((_req, res) => res.end(), { ...options, tls })).rejects.toThrow(
        /does not belong to the certificate/,
      );
    });
  });
});
