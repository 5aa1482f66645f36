import { endpoints, scimForm, type Endpoint } from '@svc/contract';
import { keys } from '@svc/store';
import { fuzzed, fuzzTimeoutMs } from '@svc/testing';
import fc from 'fast-check';
import { useApi } from '../api.testing';
import { identities } from '../identities.testing';
import { scimClient, scimEnv, scimToken } from '../routes/scim/scim.testing';
import { documentedCodes, encoded, hostileRequest, surfaceCodes } from './requests.testing';
import { closeConnections, send, type WireAnswer, type WireRequest } from './wire-client.testing';

jest.setTimeout(fuzzTimeoutMs());

/** Small limits, so that ten times a limit is fast to send. */
const limitBytes = 16_384;

describe('arbitrary requests', () => {
  const unlimited = async () => ({ allowed: true, headers: {} });
  const api = useApi({
    mount: { rateLimits: { api: unlimited, open: unlimited } },
    env: {
      GATEWAY_MAX_JSON_BODY_BYTES: String(limitBytes),
      GATEWAY_MAX_JOB_PAYLOAD_BYTES: String(limitBytes),
      ARTIFACT_MAX_BYTES: String(limitBytes),
      SVC_DELEGATION_PRIVATE_KEY: '6'.repeat(64),
      ...scimEnv,
      ...{ SVC_USER_AUTH_ENABLED: 'true', SVC_ADMIN_PASSWORD: 'House-of-the-fuzz-1' },
      ...{ SVC_USER_SECRET_KEYS: '7'.repeat(64), SVC_AUDIT_SIGNING_KEY: '5'.repeat(64) },
    },
  });
  // Bodies are read after the license was checked.
  beforeEach(() => api.license('enterprise'));
  const ask = (request: WireRequest, { ownCredential }: Endpoint) => {
    const caller = ownCredential ? { Authorization: `Bearer ${scimToken}` } : { 'X-API-Key': identities.boss.key };
    return send(api.url, { ...request, headers: { ...caller, ...request.headers } });
  };

  // A tenant within its limits.
  afterEach(async () => {
    expect(api.defects).toEqual([]);
    expect((await api.anonymous.get('/readyz')).status).toBe(200);
    const { status, body } = await api.as('other').post('/api/v1/jobs', { prompt: 'x', topic: 'job.demo.echo' });
    expect(status).toBe(200);
    expect((await api.as('other').get(`/api/v1/jobs/${String(body['job_id'])}`)).status).toBe(200);
  });
  afterAll(closeConnections);

  it.each(endpoints.map((endpoint): [string, Endpoint] => [endpoint.id, endpoint]))(
    '%s returns 2xx or a documented error for any request',
    async (_id, endpoint) => {
      const ids = await someIds();
      const codes = documentedCodes(endpoint);

      await fc.assert(
        fc.asyncProperty(hostileRequest(endpoint, ids), async (request) => {
          expectDocumented(await ask(request, endpoint), endpoint, codes);
        }),
        fuzzed(getRuns(endpoint)),
      );

      await everythingReads();
    },
  );

  // Of a data URL the token is verified before the body is read.
  const withBody = endpoints.filter((endpoint: Endpoint) => endpoint.body && !endpoint.formBody && !endpoint.signedUrl);
  it.each(withBody.map((endpoint): [string, Endpoint] => [endpoint.id, endpoint]))(
    '413: a body of %s over its limit, with and without a Content-Length',
    async (_id, endpoint) => {
      const most = api.options.bodyLimits[endpoint.bodyLimit ?? 'json'];
      const sized = (bytes: number) => Buffer.from(`"${'x'.repeat(bytes - 2)}"`);
      const target = endpoint.path.replace(/:\w+/g, 'x');
      const method = endpoint.method.toUpperCase();
      const statuses = async (bytes: number) => {
        const sent = { method, target, headers: {}, body: sized(bytes) };
        return [(await ask(sent, endpoint)).status, (await ask({ ...sent, isChunked: true }, endpoint)).status];
      };

      expect(await statuses(most)).toEqual([400, 400]);
      expect(await statuses(most + 1)).toEqual([413, 413]);
      expect(await statuses(most * 10)).toEqual([413, 413]);
    },
  );

  /** Jobs in several states with related records, and a workflow. */
  async function someIds(): Promise<string[]> {
    const states = ['PENDING', 'APPROVAL_REQUIRED', 'FAILED', 'SUCCEEDED', 'OUTPUT_QUARANTINED'] as const;
    const jobs: string[] = [];
    for (const state of states) jobs.push(await api.given.job({ state }));
    jobs.push(await api.given.job({ state: 'DENIED', safety: { remediations: [{ id: 'a' }] } }));
    const steps = { pause: { type: 'delay', delay_sec: 600 }, work: { input: { a: '${input.a.b}' } } };
    await api.as('boss').post('/api/v1/workflows', { id: 'flow', name: 'Flow', steps });
    return [...jobs, 'flow', 'default', 'job.demo.echo', 'w1', `redis://ctx:${jobs[0] ?? ''}`];
  }

  /** Accepted data can be read again by all permitted callers. */
  async function everythingReads(): Promise<void> {
    // One that was issued would replace that of the environment.
    await api.store.redis.del(keys.scimToken());
    const lists = endpoints.filter(({ method, path }: Endpoint) => method === 'get' && !path.includes(':'));
    for (const endpoint of lists) {
      const { id, path } = endpoint;
      if (['memory.read', 'locks.get'].includes(id) || /^(?:streams|sso)\./.test(id)) continue; // not a list
      if (['audit.consistency', 'audit.export'].includes(id)) continue; // need a query
      const isScim = 'ownCredential' in endpoint;
      const { status, body } = await (isScim
        ? scimClient(api).get(path.slice(scimForm.basePath.length))
        : api.as('boss').get(path));
      // The body may be null: there is no telemetry snapshot yet.
      if ((body as Record<string, unknown> | null)?.['code'] === 'tier_limit_exceeded') continue; // not in the Community plan
      expect([id, status]).toEqual([id, 200]);
    }
    const { items } = await api.store.index.page('acme', {}, 500);
    for (const { id } of items) {
      expect([id, (await api.as('boss').get(`/api/v1/jobs/${encoded(id)}`)).status]).toEqual([id, 200]);
    }
  }
});

/** Number of runs; more for endpoints with more inputs. */
const getRuns = ({ body, params, query }: Endpoint): number =>
  body ? 80 : query !== undefined || Object.keys(params).length > 0 ? 25 : 5;

function expectDocumented(
  { status, headers, text }: WireAnswer,
  endpoint: Endpoint,
  codes: ReadonlyMap<number, readonly string[]>,
): void {
  expect(headers['x-request-id']).toMatch(/./);
  // The gateway of these tests has no provider.
  if (endpoint.id.startsWith('sso.') && status === 503) return;
  expect(status).toBeLessThan(500);
  if (status === endpoint.answer.status || endpoint.otherAnswers?.[status]) return;
  const error = JSON.parse(text) as Record<string, unknown>;
  if (endpoint.ownCredential) {
    expect(error).toMatchObject({ detail: expect.stringMatching(/./), status: String(status) });
    expect([...codes.keys(), 404, 405]).toContain(status);
    return;
  }
  expect(error).toMatchObject({ error: expect.stringMatching(/./), status });
  const known = [...(codes.get(status) ?? []), ...(status === 404 || status === 405 ? surfaceCodes : [])];
  expect([...known]).toContain(error['code']);
}
