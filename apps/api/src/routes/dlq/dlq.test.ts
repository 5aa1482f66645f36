import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

type Letters = { job_id: string }[];

describe('dead letters', () => {
  const api = useApi();
  const list = async (query = '') => (await api.as('admin').get(`/api/v1/dlq${query}`)).body as unknown as Letters;
  const page = (query: string) => api.as('admin').get(`/api/v1/dlq/page?${query}`);
  const retry = (id: string) => api.as('admin').post(`/api/v1/dlq/${id}/retry`);
  const remove = (id: string) => api.as('admin').del(`/api/v1/dlq/${id}`);
  const getIds = (letters: unknown) => (letters as Letters).map(({ job_id }) => job_id);

  /** Reads all pages; `exact` passes the tiebreaker, otherwise only the cursor. */
  async function walk(limit: number, { exact } = { exact: true }) {
    const pages: string[][] = [];
    let [cursor, tiebreaker]: [unknown, unknown] = ['', ''];
    while (cursor !== null && pages.length < 50) {
      const { body } = await page(`limit=${limit}&cursor=${String(cursor)}&tiebreaker=${exact ? String(tiebreaker) : ''}`);
      pages.push(getIds(body['items']));
      [cursor, tiebreaker] = [body['next_cursor'], body['next_tiebreaker'] ?? ''];
    }
    return pages;
  }
  /** Stores dead letters at the given times, oldest first. */
  const letAt = async (secondsAgo: readonly number[]) => {
    const ids = await api.given.jobs(secondsAgo.length, { state: 'FAILED' });
    const nowSec = Math.floor(Date.now() / 1e3);
    for (const [i, ago] of secondsAgo.entries()) {
      await api.store.redis.zadd('{s0}:dlq:index:acme', (nowSec - ago) * 1e6 + i, ids[i] ?? '');
    }
    return ids;
  };

  describe('GET /api/v1/dlq', () => {
    it('200: newest first, with the reason of the failure', async () => {
      const [failed, timedOut] = [await api.given.job({ state: 'FAILED' }), await api.given.job({ state: 'TIMEOUT' })];

      expect(await list()).toMatchObject([
        { job_id: timedOut, reason_code: 'timeout', status: 'JOB_STATUS_TIMEOUT' },
        {
          job_id: failed,
          tenant: 'acme',
          topic: 'job.default',
          status: 'JOB_STATUS_FAILED',
          reason: 'the worker gave up',
          reason_code: 'worker_error',
          attempts: 1,
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        },
      ]);
    });

    it('200: at most the requested number', async () => {
      const ids = await api.given.jobs(3, { state: 'FAILED' });

      expect(getIds(await list('?limit=2'))).toEqual([ids[2], ids[1]]);
    });
  });

  describe('GET /api/v1/dlq/page', () => {
    it.each([1, 2, 5])('200: pages of %s omit no letter when many share a second', async (limit) => {
      const ids = await letAt([30, 20, 20, 20, 20, 20, 10, 10]);

      const pages = await walk(limit);

      expect(pages.flat()).toEqual([...ids].reverse());
      expect(pages.slice(0, -1).map((items) => items.length)).toEqual(pages.slice(0, -1).map(() => limit));
    });

    it('200: a page never has more items than its limit, however many share a second', async () => {
      await letAt(Array.from({ length: 40 }, () => 20));

      const { body } = await page('limit=3');

      expect(body['items']).toHaveLength(3);
    });

    it.each([5, 6, 7])('200: pages of %s without the tiebreaker may repeat letters and omit none', async (limit) => {
      const ids = await letAt([30, 20, 20, 20, 20, 20, 10, 10]);

      const pages = await walk(limit, { exact: false });

      expect([...new Set(pages.flat())]).toEqual([...ids].reverse());
      expect(pages.every((items) => items.length <= limit)).toBe(true);
    });

    it('200: paging without the tiebreaker terminates, even if a second has more letters than a page', async () => {
      const ids = await letAt([30, 20, 20, 20, 20, 20, 10, 10]);

      const pages = await walk(2, { exact: false });

      expect(pages.length).toBeLessThan(8);
      expect(pages.at(-1)).toEqual([ids[0]]);
    });

    it.each(['x', 'MTo', '%00', Buffer.from('9'.repeat(30) + ':a').toString('base64url')])('200: the invalid tiebreaker %j is ignored', async (bad) => {
      const [, newest] = await letAt([30, 10]);

      const { status, body } = await page(`limit=1&tiebreaker=${bad}`);

      expect([status, getIds(body['items'])]).toEqual([200, [newest]]);
    });

    it('200: a letter is paged by its time in the list, even if its own time differs', async () => {
      const ids = await letAt([30, 20, 20, 20]);
      const letter = (await api.store.deadLetters.get('acme', ids[1] ?? '')) as object;
      const created_at = new Date(Date.now() - 21_000).toISOString();
      await api.store.redis.set(`{s0}:dlq:entry:${ids[1] ?? ''}`, JSON.stringify({ ...letter, created_at }));

      expect((await walk(1)).flat()).toEqual([...ids].reverse());
    });

    it('200: the cursor is in seconds, and null on the last page', async () => {
      await letAt([30, 10]);

      const { body } = await page('limit=1');

      expect(body['next_cursor']).toBeLessThan(1e12);
      expect((await page(`limit=1&cursor=${String(body['next_cursor'])}`)).body['next_cursor']).toBeNull();
      expect((await page('limit=2')).body['next_cursor']).toBeNull();
    });
  });

  describe('DELETE /api/v1/dlq/:job_id', () => {
    it('204: deletes the letter and not the job; a repeat is a no-op', async () => {
      const id = await api.given.job({ state: 'OUTPUT_QUARANTINED' });
      const onTheBoard = () => api.store.redis.zcard('{s0}:dead-letters:failed');
      expect(await onTheBoard()).toBe(1);

      expect(await remove(id)).toMatchObject({ status: 204, body: undefined });
      expect(await remove(id)).toMatchObject({ status: 204 });

      expect(await list()).toEqual([]);
      expect((await api.store.jobs.load(id))?.state).toBe('OUTPUT_QUARANTINED');
      expect(await onTheBoard()).toBe(0);
    });

    it('403: a letter of another tenant', async () => {
      const id = await api.given.job({ state: 'FAILED' });

      expect(statusAndCode(await api.as('other').del(`/api/v1/dlq/${id}`))).toEqual({ status: 403, code: 'tenant_access_denied' });
      expect(await list()).toHaveLength(1);
    });
  });

  describe('POST /api/v1/dlq/:job_id/retry', () => {
    it('200: creates a new job of the same request, deletes the letter, and keeps the state of the old job', async () => {
      const id = await api.given.job({
        state: 'FAILED',
        context: { n: 1 },
        labels: { kept: '1', approval_granted: 'true', _source: 'api' },
        request: { idempotency_key: 'k', deadline_ms: 60_000, team_id: 'red', priority: 'critical' },
      });

      const { status, body } = await retry(id);

      expect({ status, body }).toEqual({
        status: 200,
        body: { job_id: expect.stringMatching(new RegExp(`^${id}-retry-[0-9a-f]{8}$`)) },
      });
      const { body: made } = await api.as('admin').get(`/api/v1/jobs/${String(body['job_id'])}`);
      expect(made).toMatchObject({
        state: 'PENDING',
        trace_id: `dlq-retry-${id}`,
        priority: 'critical',
        idempotency_key: '',
        labels: { kept: '1', retry: 'true', dlq_entry: id, retry_of_job: id },
        context: { context: { n: 1 } },
      });
      expect(made['labels']).not.toHaveProperty('approval_granted');
      expect(made['deadline_unix']).toBeGreaterThan(Date.now() * 1_000);
      expect((await api.store.jobs.load(String(body['job_id'])))?.request.env).toEqual({ retry_of_job: id });
      expect(await list()).toEqual([]);
      expect((await api.store.jobs.load(id))?.state).toBe('FAILED');
    });

    it('200: retries a job with quarantined output', async () => {
      const id = await api.given.job({ state: 'OUTPUT_QUARANTINED' });

      const { body } = await retry(id);

      expect((await api.store.jobs.load(String(body['job_id'])))?.state).toBe('PENDING');
      expect((await api.store.jobs.load(id))?.state).toBe('OUTPUT_QUARANTINED');
    });

    it('200: a client cannot reserve the retry with its own idempotency key', async () => {
      const id = await api.given.job({ state: 'FAILED' });
      const created = (await api.store.deadLetters.get('acme', id)) as { created_at: string };
      const key = `svc:dlq-retry:${id}:${created.created_at}`;
      const submitted = await api.as('user').post('/api/v1/jobs', { prompt: 'x' }, { 'Idempotency-Key': key });
      expect(submitted.status).toBe(200);

      const { status, body } = await retry(id);

      expect(status).toBe(200);
      expect(body['job_id']).not.toBe(submitted.body['job_id']);
      expect(await list()).toEqual([]);
    });

    it('404: an unknown letter', async () => {
      expect(statusAndCode(await retry('nothing-of-that-name'))).toEqual({ status: 404, code: 'dlq_entry_not_found' });
    });

    it('404: a letter whose job has expired is kept', async () => {
      const id = await api.given.job({ state: 'FAILED' });
      await api.store.redis.del(`{s0}:job:${id}`);

      expect(statusAndCode(await retry(id))).toEqual({ status: 404, code: 'dlq_entry_not_found' });
      expect(await list()).toHaveLength(1);
    });

    it('400: a letter from the bus without a topic and without a job', async () => {
      const letter = { job_id: 'x', tenant: 'acme', created_at: new Date().toISOString() };
      await api.store.redis.set('{s0}:dlq:entry:x', JSON.stringify(letter));

      expect(statusAndCode(await retry('x'))).toEqual({ status: 400, code: 'missing_topic_for_retry' });
    });

    it('503: the letter is kept if the new job cannot be stored', async () => {
      const id = await api.given.job({ state: 'FAILED' });
      jest.spyOn(api.ctx.resubmit.random, 'hex').mockReturnValueOnce('00000000');
      await api.given.job({ id: `${id}-retry-00000000` });

      expect(statusAndCode(await retry(id))).toEqual({ status: 503, code: 'store_unavailable' });
      expect(await list()).toHaveLength(1);
    });
  });
}); // prettier-ignore
