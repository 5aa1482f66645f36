import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { RateVerdict } from './rate-limiter';
import { mount } from './mount';
import { serve, type Listening } from './server';
import { serveSwagger } from './swagger';

describe('the API document and its viewer', () => {
  let listening: Listening;
  let written = 0;
  let counted: string[] = [];
  let allowed = Number.POSITIVE_INFINITY;
  const document = {
    toJSON() {
      written += 1;
      return { openapi: '3.1.0', filler: 'x'.repeat(100_000) };
    },
  };
  const count = async (bucket: string): Promise<RateVerdict> => {
    counted.push(bucket);
    return { allowed: counted.length <= allowed, headers: { 'Retry-After': '1' } };
  };
  beforeAll(async () => {
    const surface = mount([], {}, {
      authenticate: async () => ({ kind: 'refused', code: 'unauthorized' }),
      gate: { rbac: () => false },
      rateLimits: { api: count, open: count },
      bodyLimits: { json: 1, job: 1, artifact: 1, data: 1, dataset: 1, form: 1 },
      allowedOrigins: [],
      handlerTimeoutMs: 1_000,
      onDefect: (error) => {
        throw error;
      },
      checkAnswers: true,
    }); // prettier-ignore
    serveSwagger(surface.app, document);
    listening = await serve(surface.finish(), {
      host: '127.0.0.1',
      port: 0,
      requestTimeoutMs: 5_000,
      idleTimeoutMs: 5_000,
      writeTimeoutMs: 5_000,
      maxConnections: 100,
      maxConnectionsPerAddress: 100,
      onProblem: () => undefined,
    });
  });
  beforeEach(() => {
    counted = [];
    allowed = Number.POSITIVE_INFINITY;
  });
  afterAll(() => listening.close(0));

  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const [response] = (await once(get({ port: listening.port, path, headers, agent: false }), 'response')) as [
      IncomingMessage,
    ];
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(response, 'end');
    return { status: response.statusCode, headers: response.headers, bytes: Buffer.concat(chunks) };
  };
  const path = '/swagger/openapi.json';

  it('the document is serialized once', async () => {
    for (let i = 0; i < 5; i += 1) expect((await ask(path)).status).toBe(200);

    expect(written).toBe(1);
  });

  it('200: compressed for clients that accept it, and the same document for others', async () => {
    const [plain, packed] = [await ask(path), await ask(path, { 'Accept-Encoding': 'gzip' })];

    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 10);
    expect(gunzipSync(packed.bytes)).toEqual(plain.bytes);
    for (const { headers } of [plain, packed]) {
      expect(headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'public, max-age=300',
        vary: 'Accept-Encoding, Origin',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      });
    }
    expect(plain.headers.etag).not.toBe(packed.headers.etag);
  });

  it('304: for a client with the current document', async () => {
    const { headers } = await ask(path);

    const again = await ask(path, { 'If-None-Match': headers.etag ?? '' });

    expect([again.status, again.bytes.length]).toEqual([304, 0]);
  });

  it.each([path, '/swagger/', '/swagger/swagger-ui.css', '/nothing-of-that-name', '/%ff', '/admin/queues'])(
    '429: %s counts for the rate limit of an address',
    async (asked) => {
      await ask(asked);
      allowed = 1;
      const refused = await ask(asked);

      expect(refused.status).toBe(429);
      expect(refused.headers).toMatchObject({ 'retry-after': '1', 'cache-control': 'no-store' });
      expect(counted).toEqual(['public:127.0.0.1', 'public:127.0.0.1']);
    },
  );
});
