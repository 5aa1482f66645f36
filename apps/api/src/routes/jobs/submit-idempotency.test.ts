import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

describe('POST /api/v1/jobs: idempotency', () => {
  const api = useApi();
  const submit = (body: object = {}, headers: Record<string, string> = {}, query = '') =>
    api.as('user').post(`/api/v1/jobs${query}`, { prompt: 'say hello', ...body }, headers);
  const stored = async () => (await api.store.index.page('acme', {}, 500)).items.length;

  const places = [
    ['the header Idempotency-Key', () => submit({}, { 'Idempotency-Key': 'k' })],
    ['the header X-Idempotency-Key', () => submit({}, { 'X-Idempotency-Key': 'k' })],
    ['the query idempotency_key', () => submit({}, {}, '?idempotency_key=k')],
    ['the query idempotency-key', () => submit({}, {}, '?idempotency-key=k')],
    ['the body', () => submit({ idempotency_key: 'k' })],
  ] as const;

  it.each(places)('200: a repeat with the key in %s returns the first response', async (_place, send) => {
    const first = await send();

    const again = await send();

    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    expect(again).toMatchObject({ status: 200, body: first.body, headers: { 'idempotency-replayed': 'true' } });
    expect(again.headers['x-trace-id']).toBe(first.body['trace_id']);
    expect(await stored()).toBe(1);
  });

  it('200: the key is the same in every place, and is returned with the job', async () => {
    const answers = [];
    for (const [, send] of places) answers.push((await send()).body);

    expect(new Set(answers.map(({ job_id }) => job_id)).size).toBe(1);
    const { body } = await api.as('admin').get(`/api/v1/jobs/${String(answers[0]?.['job_id'])}`);
    expect(body['idempotency_key']).toBe('k');
  });

  it('200: a header takes precedence over the query, and the query over the body', async () => {
    const all = await submit({ idempotency_key: 'c' }, { 'Idempotency-Key': 'a' }, '?idempotency_key=b');
    const byQuery = await submit({ idempotency_key: 'c' }, {}, '?idempotency_key=b');
    const byHeader = await submit({}, { 'Idempotency-Key': 'a' });

    expect(byHeader.body).toEqual(all.body);
    expect(byQuery.body).not.toEqual(all.body);
  });

  it('200: the order of fields and unknown fields do not change the request', async () => {
    const first = await submit({ labels: { a: '1', b: '2' }, context: { x: 1, y: 2 } }, { 'Idempotency-Key': 'k' });

    const again = await submit(
      { context: { y: 2, x: 1 }, labels: { b: '2', a: '1' }, unknown: true },
      { 'Idempotency-Key': 'k' },
    );

    expect(again.body).toEqual(first.body);
  });

  it('409: the same key with another request', async () => {
    await submit({}, { 'Idempotency-Key': 'k' });

    expect(statusAndCode(await submit({ prompt: 'else' }, { 'Idempotency-Key': 'k' }))).toEqual({
      status: 409,
      code: 'IDEMPOTENCY_CONFLICT',
    });
    expect(await stored()).toBe(1);
  });

  it('409: a reserved key without a stored response', async () => {
    await api.store.redis.hset('{s0}:idempotency:acme:k', 'hash', 'h');

    expect(statusAndCode(await submit({}, { 'Idempotency-Key': 'k' }))).toEqual({
      status: 409,
      code: 'IDEMPOTENCY_CONFLICT',
    });
  });

  it('200: 50 concurrent requests with one key create one job, which all return', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => submit({}, { 'Idempotency-Key': 'k' })));

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body['job_id'])).size).toBe(1);
    expect(answers.filter(({ headers }) => !headers['idempotency-replayed'])).toHaveLength(1);
    expect(await stored()).toBe(1);
  });

  it('200: keys are scoped by tenant', async () => {
    const ours = await submit({}, { 'Idempotency-Key': 'k' });
    const theirs = await api.as('other').post('/api/v1/jobs', { prompt: 'say hello' }, { 'Idempotency-Key': 'k' });

    expect(theirs.status).toBe(200);
    expect(theirs.body['job_id']).not.toBe(ours.body['job_id']);
  });

  it('403: a denial is repeated with the first job id', async () => {
    const wipe = { topic: 'job.demo.wipe', risk_tags: ['destructive'] };
    const first = await submit(wipe, { 'Idempotency-Key': 'k' });

    const again = await submit(wipe, { 'Idempotency-Key': 'k' });

    expect(statusAndCode(first)).toEqual({ status: 403, code: 'policy_denied' });
    expect(again).toMatchObject({ status: 403, body: first.body });
    expect(await stored()).toBe(1);
  });

  it('200: a held job is repeated as held', async () => {
    const refund = { topic: 'job.demo.refund', context: { amount: 900 } };
    const first = await submit(refund, { 'Idempotency-Key': 'k' });

    const again = await submit(refund, { 'Idempotency-Key': 'k' });

    expect(first.body).toMatchObject({ status: 'approval_required' });
    expect(again.body).toEqual(first.body);
  });

  it.each(['a:b', '*', 'ключ', '\u0000', '\ud800', 'k'.repeat(512)])(
    '200: an odd key (%#)',
    async (idempotency_key) => {
      const first = await submit({ idempotency_key });
      const again = await submit({ idempotency_key });

      expect(first.status).toBe(200);
      expect(again.body).toEqual(first.body);
    },
  );
});
