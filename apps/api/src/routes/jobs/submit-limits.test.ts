import { useApi } from '../../api.testing';

describe('POST /api/v1/jobs: limits by key', () => {
  const api = useApi();
  const submit = (body: object, who: 'user' | 'admin' = 'user') =>
    api.as(who).post('/api/v1/jobs', { prompt: 'say hello', ...body });
  const singleton = (mode?: string) => ({ singleton: { key: 'import', ...(mode && { mode }) } });

  it('200: the detail shows the limits as they apply', async () => {
    const limits = {
      concurrency: { key: 'customer-1', limit: 2 },
      rate: { key: 'api', limit: 10, per: '1m' },
      debounce: { key: 'doc/1', period: '30s' },
    };
    const { status, body } = await submit(limits);

    expect(status).toBe(200);
    const detail = await api.as('admin').get(`/api/v1/jobs/${String(body['job_id'])}`);
    expect(detail.body).toMatchObject({
      concurrency: { key: 'customer-1', limit: 2, strategy: 'queue' },
      rate: { key: 'api', limit: 10, per: '60s' },
      debounce: { key: 'doc/1', period: '30s', max_wait: '300s' },
    });
  });

  it('409: of concurrent submissions with a singleton key one is accepted, the others name it; or get its id', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => submit(singleton())));

    const accepted = answers.filter(({ status }) => status === 200);
    expect(accepted).toHaveLength(1);
    const id = accepted[0]?.body['job_id'];
    for (const { status, body } of answers.filter((answer) => answer !== accepted[0])) {
      expect({ status, job_id: body['job_id'] }).toEqual({ status: 409, job_id: id });
    }
    const again = await submit(singleton('return'));
    expect(again).toMatchObject({ status: 200, body: { job_id: id }, headers: { 'idempotency-replayed': 'true' } });

    await api.as('admin').post(`/api/v1/jobs/${String(id)}/cancel`);
    expect((await submit(singleton())).status).toBe(200);
  });

  it.each([
    ['an empty key', { concurrency: { key: '', limit: 1 } }],
    ['a key that is too long', { singleton: { key: 'k'.repeat(257) } }],
    ['a key with control characters', { rate: { key: 'a\u0000b', limit: 1, per: '1s' } }],
    ['a limit of zero', { concurrency: { key: 'k', limit: 0 } }],
    ['a limit that is too large', { rate: { key: 'k', limit: 10_001, per: '1s' } }],
    ['an unknown strategy', { concurrency: { key: 'k', limit: 1, strategy: 'newest' } }],
    ['a period that is no time', { rate: { key: 'k', limit: 1, per: 'soon' } }],
    ['a period of more than a day', { debounce: { key: 'k', period: '25h' } }],
  ])('400: %s', async (_, body) => {
    expect((await submit(body)).status).toBe(400);
  });
});
