import { endpoints, type Endpoint } from '@svc/contract';
import fc from 'fast-check';
import { useApi } from './api.testing';
import { statusAndCode } from './caller.testing';

/** Text that is known to break software. */
const nasty = [
  '', ' ', '\u0000', 'a\u0000b', '\ud800', '\udc00x', '\uffff', '\u202e', 'é', 'e\u0301', '𝕏', '🏳️‍🌈', 'ﷺ', 'İ', 'ß',
  '__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'null', 'undefined', 'NaN', '-0', '1e999',
  '9007199254740993', '-1', '0x1', '*', '?', '[a-', '\\', '..', '../../etc/passwd', '%', '%00', '%ff', '{s0}:job:x', 'a:b',
  "' OR 1=1 --", '"; return 1', '${1}', '{{7*7}}', '<script>', '\r\nX-Evil: 1', 'x'.repeat(600), 'secret://x', 'job.a',
]; // prettier-ignore

const text = fc.oneof(fc.constantFrom(...nasty), fc.string({ unit: 'binary', maxLength: 40 }));
const json: fc.Arbitrary<unknown> = fc.oneof(
  text,
  fc.constantFrom(0, -0, 1.5, -1, 2 ** 31, 2 ** 53, 1e308, true, false, null, [], {}),
  fc.array(text, { maxLength: 5 }),
  fc.dictionary(text, text, { maxKeys: 5 }),
  fc.jsonValue({ maxDepth: 4 }),
);

const byId = (id: string): Endpoint => {
  const found = endpoints.find((endpoint) => endpoint.id === id);
  if (!found) throw new Error(id);
  return found;
};
const keysIn = (schema: Endpoint['body']): string[] =>
  Object.keys((schema?.describe() as { keys?: object } | undefined)?.keys ?? {});

describe('hostile input', () => {
  const api = useApi();

  it('causes no internal error in any endpoint', async () => {
    const steps = { pause: { type: 'delay', delay_sec: 600 }, work: { input: { a: '${input.a.b}' } } };
    await api.as('boss').post('/api/v1/workflows', { id: 'flow', name: 'Flow', steps });
    const ids = [
      'flow',
      await api.given.job(),
      await api.given.job({ state: 'APPROVAL_REQUIRED' }),
      await api.given.job({ state: 'DENIED', safety: { remediations: [{ id: 'a' }] } }),
      await api.given.job({ state: 'FAILED' }),
      await api.given.job({ state: 'SUCCEEDED' }),
    ];
    const request = fc.constantFrom(...endpoints.map(({ id }) => id)).chain((endpointId) => {
      const endpoint = byId(endpointId);
      const { query, body, path } = endpoint;
      const fields = keysIn(body);
      const sensible = endpoint.id === 'jobs.submit' ? fc.record({ prompt: fc.constant('x') }) : fc.constant({});
      return fc.record({
        endpointId: fc.constant(endpointId),
        path: fc.oneof(fc.constantFrom(...ids), text.filter((value) => value !== '' && value !== '.' && value !== '..')).map((id) => path.replace(/:\w+/, () => encode(id))),
        query: fc.dictionary(fc.oneof(fc.constantFrom('x', ...keysIn(query)), text), text, { maxKeys: 4 }),
        body: fc.oneof(
          fc.constant(undefined),
          fc.tuple(sensible, fields.length > 0 ? fc.dictionary(fc.constantFrom(...fields), json, { maxKeys: 3 }) : fc.constant({})).map(([some, more]) => ({ ...more, ...some })),
          json,
        ),
        header: fc.constantFrom<Record<string, string>>({}, { 'Idempotency-Key': 'ÿ *:' }, { 'X-Max-Artifact-Bytes': '-1e9' }, { 'X-Request-Id': '"' }),
      });
    });

    await fc.assert(
      fc.asyncProperty(request, async ({ endpointId, path, query, body, header }) => {
        const endpoint = byId(endpointId);
        // Otherwise the events of an open job do not end.
        const asked = endpoint.answer.events ? { ...query, follow: 'false' } : query;
        const search = Object.entries(asked).map(([name, value]) => `${encode(name)}=${encode(value)}`);
        const sent = body === undefined || endpoint.method === 'get' ? undefined : JSON.stringify(body);

        const { status } = await api.as('boss').send(endpoint.method, `${path}?${search.join('&')}`, sent, header);

        expect(status).toBeLessThan(500);
        expect(api.defects).toEqual([]);
      }),
      { numRuns: 400 },
    );

    // Accepted data can be read again.
    for (const list of ['jobs?limit=500', 'approvals?limit=500', 'dlq?limit=500', 'workflow-runs?limit=500', 'topics', 'status']) {
      expect((await api.as('boss').get(`/api/v1/${list}`)).status).toBe(200);
    }
    const { items } = await api.store.index.page('acme', {}, 500);
    for (const { id } of items) expect((await api.as('boss').get(`/api/v1/jobs/${encode(id)}`)).status).toBe(200);
    const runs = (await api.store.runIndex.page('acme', {}, 500)).items.map(({ id }) => `/api/v1/workflow-runs/${id}`);
    for (const run of runs.flatMap((path) => [path, `${path}/timeline`, `${path}/chat`])) {
      expect((await api.as('boss').get(run)).status).toBe(200);
    }
  }, 120_000);

  it.each(nasty.filter((value) => value !== ''))('text %j in every field of a job is stored and returned', async (value) => {
    const everywhere = {
      prompt: `x${value}`, context: { [value === '__proto__' ? 'k' : value]: value }, memory_id: `x${value}`, context_mode: value,
      adapter_id: value, priority: value, team_id: value, project_id: value, actor_id: value, pack_id: value, capability: value,
      idempotency_key: value, risk_tags: [value], requires: [value], tags: [value], labels: { [`l${value}`]: value },
    };
    const cut = Object.fromEntries(Object.entries(everywhere).filter(([name]) => value.length < 512 || !['memory_id', 'adapter_id', 'team_id', 'project_id', 'actor_id', 'pack_id', 'capability', 'idempotency_key', 'labels'].includes(name)));

    const { status, body } = await api.as('user').post('/api/v1/jobs', cut);

    expect(status).toBe(200);
    const detail = (await api.as('user').get(`/api/v1/jobs/${String(body['job_id'])}`)).body;
    expect(detail).toMatchObject({ context: { prompt: `x${value}` }, risk_tags: expect.arrayContaining([value]) });
    expect((await api.as('user').get('/api/v1/jobs')).status).toBe(200);
  }, 120_000);

  it.each([
    ['a key that reaches a prototype', '{"prompt":"x","__proto__":{"a":1}}'],
    ['a key that reaches a constructor', '{"prompt":"x","context":{"constructor":{"prototype":{"a":1}}}}'],
    ['a prototype key among labels', '{"prompt":"x","labels":{"__proto__":"a"}}'],
    ['65 levels of nesting', `{"prompt":"x","context":${'['.repeat(65)}${']'.repeat(65)}}`],
    ['100,000 levels of nesting', `{"prompt":"x","context":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['half an object', '{"prompt":'],
    ['a number', '1e400'],
    ['null', 'null'],
    ['a list', '[]'],
    ['a byte order mark and nothing else', '\ufeff'],
  ])('400: %s', async (_what, sent) => {
    expect(await api.as('user').send('POST', '/api/v1/jobs', sent)).toMatchObject({ status: 400 });
  });

  it('400: a path that is not UTF-8', async () => {
    expect(statusAndCode(await api.as('user').get('/api/v1/jobs/%ff'))).toEqual({ status: 400, code: 'invalid_body' });
    expect(statusAndCode(await api.as('user').get('/api/v1/jobs/%2'))).toEqual({ status: 400, code: 'invalid_body' });
  });

  it.each(nasty.filter((value) => value !== '' && value !== '..' && value.length < 500))('404: a job id %j', async (id) => {
    expect(statusAndCode(await api.as('user').get(`/api/v1/jobs/${encode(id)}`))).toEqual({ status: 404, code: 'job_not_found' });
  });

  it.each(['a b', 'a/b', 'ключ', '\u0000', 'a:b*', '𝕏'])('200: a job with the id %j is found', async (id) => {
    await api.given.job({ id });

    expect((await api.as('admin').post(`/api/v1/jobs/${encode(id)}/cancel`)).body).toEqual({ id, state: 'CANCELLED' });
    expect((await api.as('user').get(`/api/v1/jobs/${encode(id)}`)).body['id']).toBe(id);
  });
}); // prettier-ignore

/** A lone surrogate has no UTF-8 form; clients send the replacement character. */
const encode = (value: string) => encodeURIComponent(Buffer.from(value).toString()).replace(/\./g, '%2E');
