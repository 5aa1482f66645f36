import { endpoints, type Endpoint } from '@svc/contract';
import { eventually, nested, startService, useServers, type RunningService } from '@svc/testing';
import { Redis } from 'ioredis';
import { gzipSync } from 'node:zlib';
import { caller } from '../caller.testing';
import { documentedCodes } from './requests.testing';
import { closeConnections, send } from './wire-client.testing';

jest.setTimeout(60_000);

/** Memory limit of the gateway process. Exceeding it ends the process and fails this test. */
const heapMb = 256;
const key = 'bombs-admin-key';
const MiB = 1_048_576;

const times = (text: string, bytes: number) => text.repeat(Math.floor(bytes / text.length));
const laughs = (levels: number) =>
  Array.from({ length: levels }, (_, i) => `a${i}: &a${i} [${i === 0 ? 'x,x,x,x,x,x,x,x,x' : times(`*a${i - 1},`, 9 * 4)}]\n`).join(''); // prettier-ignore

/** Policies that expand when they are parsed. */
const documents: readonly [string, string][] = [
  ['a billion laughs', laughs(9)],
  ['laughs that merge into one another', `a: &a {x: 1}\n${Array.from({ length: 200 }, (_, i) => `b${i}: &b${i} {<<: [${times('*a,', 300)}]}`).join('\n')}`],
  ['an anchor of 400 kB, a thousand times', `a: &a "${times('x', 400_000)}"\nrules: [${times('*a,', 3_000)}]\n`],
  ['an alias of itself', 'rules: &r [*r]\n'],
  ['100,000 lists in lists', `rules: ${nested(100_000)}\n`],
  ['100,000 lists that do not end', `rules: ${'['.repeat(100_000)}`],
  ['100,000 maps in maps', `rules: ${'{a: '.repeat(100_000)}`],
  ['100,000 keys within keys', '? '.repeat(100_000)],
  ['a key that is there twice', 'version: "1"\nversion: "2"\n'],
  ['a rule that says twice what it decides', 'rules: [{id: a, decision: deny, decision: allow}]\n'],
  ['400 kB of one key', `${times('x', 400_000)}: 1\n`],
  ['50,000 unknown keys', Array.from({ length: 50_000 }, (_, i) => `k${i}: 1\n`).join('')],
  ['50,000 mistakes, each with its place', `rules:\n${times('  - {}\n', 350_000)}`],
  ['many documents in one', times('---\nversion: "1"\n', 350_000)],
  ['400 kB of blanks', times(' ', 400_000) + 'x'],
  ['400 kB of quotes that do not end', `a: "${times('\\"', 400_000)}`],
  ['a number of 400,000 digits', `rules: ${times('9', 400_000)}\n`],
  ['a key that reaches a prototype', '__proto__: {rules: []}\n'],
]; // prettier-ignore

/** Bodies that expand when they are parsed. */
const bodies: readonly [string, string | Uint8Array, Readonly<Record<string, string>>?][] = [
  ['lists in lists', nested(100_000)],
  ['lists that do not end', '['.repeat(MiB)],
  ['maps that do not end', times('{"a":', MiB)],
  ['a number of a million digits', `[${times('9', MiB - 100)}]`],
  ['a million escapes', `{"prompt":1,"x":"${times('\\u0000', MiB)}"}`],
  ['a key that is there 100,000 times', `[{${times('"a":1,', MiB)}"a":1}]`],
  ['200,000 keys', `{${Array.from({ length: 80_000 }, (_, i) => `"${i}":1`).join()}}`],
  ['a key that reaches a prototype', '{"prompt":"x","context":{"__proto__":{"a":1}}}'],
  ['a gigabyte, packed', gzipSync(Buffer.alloc(64 * MiB)), { 'Content-Encoding': 'gzip' }],
  ['what says it is packed and is not', '{"prompt":"x"}', { 'Content-Encoding': 'gzip' }],
  ['an unsupported content encoding', '{"prompt":"x"}', { 'Content-Encoding': 'br' }],
];

describe('input that expands when it is parsed', () => {
  const servers = useServers({ streams: 'purge' });
  let api: RunningService;
  let redis: Redis;
  const admin = () => caller(api.url, { 'X-API-Key': key });
  /** Everything that is stored, except for status records of services. */
  const stored = async () => {
    const { body } = await admin().get('/api/v1/policy/bundles');
    const audit = await admin().get('/api/v1/policy/audit');
    return { bundles: body, audit: audit.body['total'], jobs: (await redis.keys('*:job:*')).length };
  };
  const answersOthers = async () => {
    expect((await admin().get('/api/v1/policy/bundles')).status).toBe(200);
    expect((await caller(api.url, {}).get('/readyz')).status).toBe(200);
  };

  beforeAll(async () => {
    api = await startService('api', servers, {
      NODE_OPTIONS: `--max-old-space-size=${heapMb}`,
      SVC_API_KEYS: JSON.stringify([{ key, tenant: 'acme', role: 'admin', principal_id: 'ann', allow_cross_tenant: true }]),
      SVC_POLICY_STRICT: 'off',
      REDIS_RATE_LIMIT: 'false',
    }); // prettier-ignore
    redis = new Redis(servers.redisUrl);
  });
  afterAll(async () => {
    closeConnections();
    redis.disconnect();
    await api.stop();
  });

  it.each(documents)('a policy of %s is rejected with a code, and nothing is written', async (_what, content) => {
    const before = await stored();

    const asked = ['put /api/v1/policy/bundles/secops~x', 'post /api/v1/policy/bundles/secops~x/simulate', 'put /api/v1/policy/global'];
    const sent = [{ content }, { content, request: { topic: 'job.a' } }, { sections: { input_rules: { content } } }];
    const answers = await Promise.all(asked.map((line, i) => {
      const [method = '', path = ''] = line.split(' ');
      return admin().send(method, path, JSON.stringify(sent[i]));
    }));

    for (const { status, body } of answers) {
      expect([[400, 'POLICY_VALIDATION_FAILED'], [400, 'invalid_body'], [413, 'request_too_large']]).toContainEqual([status, body['code']]);
      expect(JSON.stringify(body).length).toBeLessThan(100_000);
    }
    expect(await stored()).toEqual(before);
    await answersOthers();
  }); // prettier-ignore

  it.each(bodies)('a body of %s is rejected with a code by every route, and nothing is written', async (_what, text, headers = {}) => {
    const before = await stored();
    // A signed URL is verified before its body is read.
    const withBody = endpoints.filter(({ body, signedUrl, ownCredential }: Endpoint) => body && !signedUrl && !ownCredential);

    for (const endpoint of withBody) {
      const sent = { method: endpoint.method.toUpperCase(), target: endpoint.path.replace(/:\w+/g, 'x') };
      const bytes = typeof text === 'string' ? Buffer.from(text) : text;
      const { status, text: answered } = await send(api.url, { ...sent, headers: { 'X-API-Key': key, ...headers }, body: bytes });
      const code = (JSON.parse(answered) as { code?: string }).code ?? '';
      expect([endpoint.id, status]).toEqual([endpoint.id, expect.any(Number)]);
      expect([400, 403, 404, 409, 413, 415]).toContain(status);
      expect([endpoint.id, code, [...(documentedCodes(endpoint).get(status) ?? [])].includes(code)]).toEqual([endpoint.id, code, true]);
    }

    expect(await stored()).toEqual(before);
    await answersOthers();
  }); // prettier-ignore

  it('the gateway retains no memory of them, and none caused a defect', async () => {
    const used = async () => Number(/^nodejs_heap_size_used_bytes(?:\{[^}]*\})? ([\d.e+]+)/m.exec(await api.metrics())?.[1] ?? NaN); // prettier-ignore

    await eventually(async () => expect(await used()).toBeLessThan((heapMb * MiB * 3) / 4));
    const metrics = await api.metrics();
    expect(metrics).toMatch(/svc_\w*requests_total\{[^}]*status="(400|4xx)"[^}]*\} [1-9]/);
    expect(metrics).not.toMatch(/svc_\w*requests_total\{[^}]*status="5/);
    expect(api.output()).not.toMatch(/\bERROR\b/);
  });
});
