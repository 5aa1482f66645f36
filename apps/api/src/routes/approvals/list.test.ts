import { useApi } from '../../api.testing';

describe('GET /api/v1/approvals', () => {
  const api = useApi();
  const list = (query = '', who: 'admin' | 'other' = 'admin') => api.as(who).get(`/api/v1/approvals${query}`);
  const getIds = (body: Record<string, unknown>) =>
    (body['items'] as { job: { id: string } }[]).map(({ job }) => job.id);

  it('200: a held job is listed with its approval context', async () => {
    const id = await api.given.job({
      state: 'APPROVAL_REQUIRED',
      labels: { 'system:ledger': '1', target_namespace: 'prod', rollback_hint: 'pay it back' },
      context: { decision: { title: 'Refund', why: 'too much', amount: 900, items: [1, 2, 3, 4] } },
    });

    const { status, body } = await list();

    expect(status).toBe(200);
    expect(body['next_cursor']).toBeNull();
    expect(body['items']).toMatchObject([
      {
        job: { id, state: 'APPROVAL_REQUIRED' },
        approval_status: 'pending',
        approval_actionability: 'actionable',
        approval_revision: 1,
        approval_ref: id,
        blast_radius: {
          systems: ['ledger'],
          namespaces: ['prod'],
          resources: [],
          scope_description: 'systems: ledger; namespaces: prod',
        },
        rollback_hint: 'pay it back',
        decision_summary: {
          source: 'workflow_payload',
          completeness: 'rich',
          context_status: 'available',
          title: 'Refund',
          why: 'too much',
          amount: 900,
          item_count: 4,
          items_preview: [1, 2, 3],
        },
      },
    ]);
  });

  it('200: a resolution is listed with its author and reason, unless resolved approvals are excluded', async () => {
    const [approved = '', pending = ''] = await api.given.jobs(2, { state: 'APPROVAL_REQUIRED' });
    await api.as('boss').post(`/api/v1/approvals/${approved}/approve`, { reason: 'fine', note: 'seen' });

    const all = await list();
    const open = await list('?include_resolved=false');

    expect(all.body['items']).toMatchObject([
      {
        job: { id: approved, state: 'PENDING' },
        approval_status: 'approved',
        approval_actionability: 'resolved',
        approval_decision: 'approve',
        approval_revision: 2,
        resolved_by: 'bob',
        resolution: 'fine',
        resolved_comment: 'seen',
      },
      { job: { id: pending } },
    ]);
    expect(getIds(open.body)).toEqual([pending]);
  });

  it('200: pages contain every item exactly once', async () => {
    const ids = await api.given.jobs(7, { state: 'APPROVAL_REQUIRED' });

    const seen: string[] = [];
    let cursor: unknown = '';
    while (cursor !== null) {
      const { body } = await list(`?limit=3&cursor=${String(cursor)}`);
      seen.push(...getIds(body));
      cursor = body['next_cursor'];
    }

    expect(seen).toEqual([...ids].reverse());
  });

  it('200: pages of pending approvals are full, however many resolved ones are in between', async () => {
    const ids = await api.given.jobs(6, { state: 'APPROVAL_REQUIRED' });
    for (const id of [ids[1], ids[3], ids[5]]) await api.as('boss').post(`/api/v1/approvals/${id}/approve`);

    const first = await list('?limit=2&include_resolved=no');
    const second = await list(`?limit=2&include_resolved=no&cursor=${String(first.body['next_cursor'])}`);

    expect(getIds(first.body)).toEqual([ids[4], ids[2]]);
    expect(getIds(second.body)).toEqual([ids[0]]);
    expect(second.body['next_cursor']).toBeNull();
  });

  it('200: a submitter is named by the hash of a key, never by the key', async () => {
    const { body } = await api.as('user').post('/api/v1/jobs', { prompt: 'refund', topic: 'job.demo.refund', context: { amount: 900 } });
    expect(body['status']).toBe('approval_required');

    const items = (await list()).body['items'] as { submitted_by: string }[];

    expect(items[0]?.submitted_by).toMatch(/^apikey:[0-9a-f]{16}\|principal:uma$/);
  }); // prettier-ignore

  it('200: an input that is not JSON is reported as malformed', async () => {
    const id = await api.given.job({ state: 'APPROVAL_REQUIRED' });
    await api.store.redis.set(`ctx:${id}`, '{"a":');

    const [item] = (await list()).body['items'] as Record<string, unknown>[];

    expect(item).toMatchObject({ decision_summary: { context_status: 'malformed' } });
    expect(item).not.toHaveProperty('job_input');
  });

  it('200: another tenant sees none of them', async () => {
    await api.given.job({ state: 'APPROVAL_REQUIRED' });

    expect((await list('', 'other')).body).toEqual({ items: [], next_cursor: null });
  });
});
