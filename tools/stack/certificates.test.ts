import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureCertificates } from './certificates';

const dayMs = 86_400_000;

describe('ensureCertificates', () => {
  const nowMs = Date.now();
  let dir: string;
  beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'svc-tls-'))));
  afterEach(() => rmSync(dir, { recursive: true }));

  it.each(['localhost', '127.0.0.1', '[::1]'])(
    'makes a certificate that clients of the authority accept for %s',
    async (host) => {
      const { ca, cert, key } = await ensureCertificates(dir, nowMs);
      const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (_request, answer) =>
        answer.end(),
      );
      server.listen(0, host === '[::1]' ? '::1' : '127.0.0.1');
      await once(server, 'listening');
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : undefined;

      const status = await new Promise((resolve, reject) => {
        const url = `https://${host}:${port}/`;
        get(url, { ca: readFileSync(ca), agent: false, family: host === 'localhost' ? 4 : 0 }, (answer) =>
          resolve(answer.statusCode),
        ).on('error', reject);
      });

      expect(status).toBe(200);
      server.close();
    },
  );

  it('is rejected by clients that trust another authority', async () => {
    const mine = new X509Certificate(readFileSync((await ensureCertificates(dir, nowMs)).cert));
    const other = new X509Certificate(readFileSync((await ensureCertificates(join(dir, 'other'), nowMs)).ca));

    expect(mine.checkIssued(other)).toBe(false);
    expect(mine.verify(other.publicKey)).toBe(false);
  });

  it('names every service of the compose file', async () => {
    const { cert } = await ensureCertificates(dir, nowMs);
    const made = new X509Certificate(readFileSync(cert));

    for (const name of ['api', 'scheduler', 'engine', 'kernel', 'redis', 'nats'])
      expect(made.checkHost(name)).toBe(name);
  });

  it('makes the key readable by its owner only', async () => {
    const { key } = await ensureCertificates(dir, nowMs);

    expect(statSync(key).mode & 0o777).toBe(0o600);
  });

  it('creates them once, and again when fewer than 30 days are left', async () => {
    const read = async (atMs: number) => readFileSync((await ensureCertificates(dir, atMs)).cert, 'utf8');
    const first = await read(nowMs);

    expect(await read(nowMs + 790 * dayMs)).toBe(first);
    expect(await read(nowMs + 800 * dayMs)).not.toBe(first);
  });
});
