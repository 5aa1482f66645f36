import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

describe('GET /api/v1/jobs', () => {
  const api = useApi();
  const list = (query = '') => api.as('viewer').get(`/api/v1/jobs${query}`);
  const getIds = ({ body }: { body: Record<string, unknown> }) => (body['items'] as { id: string }[]).map(({ id }) => id);

  /** Reads all pages, with an action in between. */
  async function walk(query: string, between: (page: number) => Promise<unknown> = async () => undefined) {
    const seen: string[] = [];
    let cursor: unknown = '';
    for (let page = 0; cursor !== null && page < 50; page++) {
      const answer = await list(`?${query}&cursor=${String(cursor)}`);
      seen.push(...getIds(answer));
      cursor = answer.body['next_cursor'];
      await between(page);
    }
    return seen;
  }

  it('200: newest change first, without unset fields', async () => {
    const [older = '', newer = ''] = [await api.given.job({ state: 'SUCCEEDED' }), await api.given.job({ state: 'FAILED' })];

    const { status, body } = await list();

    expect(status).toBe(200);
    expect(body).toMatchObject({
      items: [
        { id: newer, state: 'FAILED', failure_reason: 'the worker gave up', worker_id: 'worker-7', attempts: 1 },
        { id: older, state: 'SUCCEEDED', trace_id: `trace-of-${older}`, topic: 'job.default', tenant: 'acme', principal: 'zed' },
      ],
      next_cursor: null,
    });
    expect(JSON.stringify(body)).not.toContain('_source');
  });

  it('200: a changed job moves to the top', async () => {
    const [first = '', second = ''] = await api.given.jobs(2);
    await api.as('admin').post(`/api/v1/jobs/${first}/cancel`);

    expect(getIds(await list())).toEqual([first, second]);
  });

  it.each([1, 2, 3, 7, 500])('200: pages of %s contain every job exactly once', async (limit) => {
    const ids = await api.given.jobs(7);

    expect(await walk(`limit=${limit}`)).toEqual([...ids].reverse());
  });

  it('200: concurrent changes hide no job and repeat none', async () => {
    const ids = await api.given.jobs(9);
    const [oldest = '', ...others] = ids;

    // Between pages a job already seen and the oldest one, not seen yet, both move to the top.
    const seen = await walk('limit=3', async (page) => {
      if (page === 0) await api.as('admin').post(`/api/v1/jobs/${oldest}/cancel`);
      await api.as('admin').post(`/api/v1/jobs/${others.at(-1 - page) ?? ''}/cancel`);
    });

    expect(seen).toEqual([...others].reverse());
  });

  it('200: more jobs than one read of the index returns', async () => {
    const ids = await api.given.jobs(230);
    const odd = await api.given.job({ topic: 'job.demo.odd' });
    await api.given.jobs(230);

    expect(getIds(await list('?topic=job.demo.odd'))).toEqual([odd]);
    expect((await walk('limit=100')).slice(-230)).toEqual([...ids].reverse());
  });

  it('200: each filter, and all of them together', async () => {
    const wanted = await api.given.job({ state: 'RUNNING', topic: 'job.demo.a', request: { team_id: 'red' }, traceId: 't' });
    const other = await api.given.job();

    for (const query of ['state=RUNNING', 'state=running', 'topic=job.demo.a', 'team=red', 'trace_id=t', 'tenant=acme&team=red']) {
      expect([query, getIds(await list(`?${query}`))]).toEqual([query, [wanted]]);
    }
    expect(getIds(await list('?state=RUNNING&topic=job.demo.a&team=red&trace_id=t&tenant=acme'))).toEqual([wanted]);
    expect(getIds(await list('?state=PENDING&trace_id=t'))).toEqual([]);
    expect(getIds(await list('?state=&topic=&team=&tenant='))).toEqual([other, wanted]);
    expect(getIds(await list('?state=no_such_state'))).toEqual([]);
  });

  it('200: APPROVAL is another name of APPROVAL_REQUIRED', async () => {
    const held = await api.given.job({ state: 'APPROVAL_REQUIRED' });
    await api.given.job();

    expect(getIds(await list('?state=approval'))).toEqual([held]);
    expect(getIds(await list('?state=APPROVAL_REQUIRED'))).toEqual([held]);
  });

  it('200: time units are inferred from their size, and a coarse upper bound includes its unit', async () => {
    const id = await api.given.job();
    const us = (await api.store.jobs.load(id))?.updated_at ?? 0;
    const [ms, sec] = [Math.floor(us / 1e3), Math.floor(us / 1e6)];

    for (const inside of [`after=${sec}`, `after=${ms}`, `after=${us}`, `after=${us}000`, `before=${sec}`, `before=${ms}`, `before=${us}`, `before=${us}000`]) {
      expect([inside, getIds(await list(`?updated_${inside}`))]).toEqual([inside, [id]]);
    }
    for (const outside of [`after=${sec + 1}`, `after=${ms + 1}`, `after=${us + 1}`, `before=${sec - 1}`, `before=${ms - 1}`, `before=${us - 1}`]) {
      expect([outside, getIds(await list(`?updated_${outside}`))]).toEqual([outside, []]);
    }
  });

  it('200: jobs of a trace are paged by their last change, like all others', async () => {
    const ids = await api.given.jobs(5, { traceId: 't' });
    for (const id of ids) await api.as('admin').post(`/api/v1/jobs/${id}/cancel`);

    expect(await walk('trace_id=t&limit=2')).toEqual([...ids].reverse());
    const last = (await api.store.jobs.load(ids[4] ?? ''))?.updated_at;
    expect(getIds(await list(`?trace_id=t&updated_after=${last}`))).toEqual([ids[4]]);
  });

  it.each([
    ['', 50],
    ['limit=7', 7],
    ['limit=0', 50],
    ['limit=-3', 50],
    ['limit=many', 50],
    ['limit=7x', 50],
    ['limit=', 50],
    ['limit=501', 55],
    ['limit=7.9', 7],
  ])('200: %s', async (query, count) => {
    await api.given.jobs(55);

    expect(getIds(await list(`?${query}`))).toHaveLength(count);
  });

  it.each(['soon', '-1', '1.5', 'NaN', ''])('200: an invalid cursor (%j) is ignored', async (cursor) => {
    const id = await api.given.job();

    expect(getIds(await list(`?cursor=${cursor}`))).toEqual([id]);
  });

  it('400: a parameter sent twice', async () => {
    expect(statusAndCode(await list('?state=RUNNING&state=FAILED'))).toEqual({ status: 400, code: 'invalid_body' });
  });

  it('403: the filter of another tenant', async () => {
    expect(statusAndCode(await list('?tenant=globex'))).toEqual({ status: 403, code: 'tenant_access_denied' });
  });
}); // prettier-ignore
