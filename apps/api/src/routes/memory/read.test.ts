import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import { createRunClient } from '../runs/given-runs.testing';

describe('GET /api/v1/memory', () => {
  const api = useApi();
  const read = (query: string, who: 'admin' | 'other' | 'everywhere' = 'admin') =>
    api.as(who).get(`/api/v1/memory?${query}`);

  it('200: the context of a job, by pointer or key, with or without quotes', async () => {
    const id = await api.given.job();
    const pointer = `redis://ctx:${id}`;

    for (const query of [`ptr=${pointer}`, `key=ctx:${id}`, `key=${pointer}`, `ptr="${pointer}"`, `key='ctx:${id}'`]) {
      const { status, body } = await read(query);

      expect({ status, body }).toMatchObject({
        status: 200,
        body: { pointer, key: `ctx:${id}`, kind: 'context', json: { prompt: 'say hello' } },
      });
      expect(Buffer.from(String(body['base64']), 'base64').toString()).toBe(body['text']);
      expect(body['size_bytes']).toBe(String(body['text']).length);
    }
  });

  it('200: a text result and a binary result', async () => {
    const id = await api.given.job({ state: 'SUCCEEDED' });
    await api.store.redis.set(`res:${id}`, 'plain');
    const text = await read(`key=res:${id}`);
    await api.store.redis.set(`res:${id}`, Buffer.from([255, 254]));
    const bytes = await read(`key=res:${id}`);

    expect(text.body).toMatchObject({ kind: 'result', text: 'plain' });
    expect(text.body).not.toHaveProperty('json');
    expect(bytes.body).toMatchObject({ base64: '//4=', size_bytes: 2 });
    expect(bytes.body).not.toHaveProperty('text');
  });

  it.each([
    ['string', (key: string) => api.store.redis.set(key, 'v'), { redis_type: 'string', value: 'v' }],
    ['bytes', (key: string) => api.store.redis.set(key, Buffer.from([255])), { redis_type: 'string', base64: '/w==' }],
    [
      'list',
      (key: string) => api.store.redis.rpush(key, '{"a":1}', 'b'),
      { redis_type: 'list', length: 2, items: [{ a: 1 }, 'b'] },
    ],
    ['set', (key: string) => api.store.redis.sadd(key, '1'), { redis_type: 'set', length: 1, items: [1] }],
    [
      'hash',
      (key: string) => api.store.redis.hset(key, { f: '[1]', g: 'x' }),
      { redis_type: 'hash', length: 2, items: { f: [1], g: 'x' } },
    ],
  ])('200: memory that is a %s', async (_kind, write, document) => {
    const id = await api.given.job();
    await write(`mem:${id}`);

    expect((await read(`key=mem:${id}`)).body).toMatchObject({ kind: 'memory', json: document });
  });

  it.each(['events', 'chunks', 'summary'])('200: the %s of a job’s memory belong to its tenant', async (part) => {
    const id = await api.given.job();
    await api.store.redis.rpush(`mem:${id}:${part}`, 'x');

    expect((await read(`key=mem:${id}:${part}`)).status).toBe(200);
    expect(statusAndCode(await read(`key=mem:${id}:${part}`, 'other'))).toEqual({
      status: 403,
      code: 'tenant_access_denied',
    });
  });

  it.each([
    ['', 400, 'missing_ptr_or_key'],
    ['ptr=', 400, 'missing_ptr_or_key'],
    ['key=%20%20', 400, 'missing_ptr_or_key'],
    ['key=ctx:', 400, 'invalid_pointer'],
    ['key={s0}:job:x', 400, 'invalid_pointer'],
    ['key=session:user:x', 400, 'invalid_pointer'],
    ['key=art:x', 400, 'invalid_pointer'],
    ['ptr=http://ctx:x', 400, 'invalid_pointer'],
    ['key=ctx:nothing-of-that-name', 404, 'not_found'],
  ])('%s', async (query, status, code) => {
    expect(statusAndCode(await read(query))).toEqual({ status, code });
  });

  it('404: memory without a known tenant, except for a credential of all tenants', async () => {
    await api.store.redis.set('mem:shared', 'v');

    expect(statusAndCode(await read('key=mem:shared'))).toEqual({ status: 404, code: 'not_found' });
    expect((await read('key=mem:shared', 'everywhere')).status).toBe(200);
  });

  it('403: a quarantined result, and its redacted copies', async () => {
    const id = await api.given.job({ state: 'OUTPUT_QUARANTINED', result: 'canary' });

    for (const key of [`res:${id}`, `res:${id}:redacted:0a1b`, `res:${id}:part`, `res:${id}:part:2`]) {
      await api.store.redis.set(key, 'canary');
      for (const who of ['admin', 'everywhere'] as const) {
        expect(statusAndCode(await read(`key=${key}`, who))).toEqual({ status: 403, code: 'output_quarantined' });
      }
    }
  });

  it('403: the original of a redacted result, except for admins; readers of the job get the copy', async () => {
    const id = await api.given.job({ state: 'SUCCEEDED', result: 'canary' });
    const redacted_ptr = `redis://res:${id}:redacted:0a1b`;
    await api.store.redis.set(redacted_ptr.slice('redis://'.length), '"[REDACTED]"');
    const verdict = { decision: 'REDACT', reason: '', rule_id: '', policy_snapshot: '', findings: [], phase: 'async', original_ptr: `redis://res:${id}`, redacted_ptr, checked_at: 1, check_duration_ms: 1 }; // prettier-ignore
    await api.store.redis.hset(`{s0}:job:${id}`, 'result_ptr', redacted_ptr, 'output_safety', JSON.stringify(verdict));

    for (const who of ['viewer', 'user', 'operator'] as const) {
      expect((await api.as(who).get(`/api/v1/memory?key=res:${id}`)).status).toBe(403);
      const { body } = await api.as(who).get(`/api/v1/jobs/${id}`);
      expect(body).toMatchObject({ result: '[REDACTED]', result_ptr: redacted_ptr, output_decision: 'REDACT' });
    }
    expect((await read(`key=res:${id}`)).body).toMatchObject({ json: 'canary' });
  });

  it('200: shared memory of a run, for the tenant of the run', async () => {
    const runs = createRunClient(api);
    await runs.workflow({ wait: { type: 'delay', delay_sec: 60 } });
    const id = await runs.run();
    await api.store.redis.set(`mem:run:${id}`, 'v');

    expect((await read(`key=mem:run:${id}`)).body).toMatchObject({ json: { value: 'v' } });
    expect(statusAndCode(await read(`key=mem:run:${id}`, 'other'))).toEqual({
      status: 403,
      code: 'tenant_access_denied',
    });
  });

  it('403: memory of another tenant’s job', async () => {
    const id = await api.given.job({ state: 'SUCCEEDED' });

    for (const key of [`ctx:${id}`, `res:${id}`, `mem:${id}`]) {
      expect(statusAndCode(await read(`key=${key}`, 'other'))).toEqual({ status: 403, code: 'tenant_access_denied' });
    }
  });
});
