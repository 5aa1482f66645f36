import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import type { Who } from '../../identities.testing';
import { createRunClient } from '../runs/given-runs.testing';

describe('legal holds', () => {
  const api = useApi({ env: { TENANT_ID: 'house' } });
  beforeEach(() => api.license('enterprise'));
  const create = (body: object, who: Who = 'admin') => api.as(who).post('/api/v1/audit/legal-hold', body);
  const release = (id: string, who: Who = 'admin') => api.as(who).del(`/api/v1/audit/legal-hold/${id}`);
  const listed = async (who: Who = 'admin', query = '') =>
    (await api.as(who).get(`/api/v1/audit/legal-holds${query}`)).body['holds'] as Record<string, string>[];
  const readId = ({ body }: { body: Record<string, unknown> }) => (body['hold'] as { id: string }).id;
  const recorded = async (who: Who) =>
    ((await api.as(who).get('/api/v1/audit/events?severity=HIGH')).body['items'] as Record<string, unknown>[]).map(
      ({ event_type, reason }) => ({ event_type, reason }),
    );

  it('201, 200: a hold is created, listed and released, and each is recorded', async () => {
    const created = await create({ reason: ' lawsuit 7 ' });
    const id = readId(created);
    const released = await release(id);

    expect(created).toMatchObject({
      status: 201,
      body: { hold: { id, tenant_id: 'acme', reason: 'lawsuit 7', created_by: 'ann', created_at: expect.any(String) } },
    });
    expect(released).toMatchObject({ status: 200, body: { released: true, id } });
    expect(await listed()).toMatchObject([{ id, released_by: 'ann', released_at: expect.any(String) }]);
    expect(await recorded('admin')).toEqual([
      { event_type: 'legal_hold.released', reason: undefined },
      { event_type: 'legal_hold.created', reason: 'lawsuit 7' },
    ]);
  });

  it('409: of many at once one is created; after its release the next', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => create({ reason: `r${i}` })));

    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)]);
    expect(answers.filter(({ status }) => status === 409).map(({ body }) => body['code'])).toContain('legal_hold_exists');
    const [first] = await listed();
    await release(first?.['id'] ?? '');
    expect(statusAndCode(await release(first?.['id'] ?? ''))).toEqual({ status: 409, code: 'legal_hold_already_released' });
    expect((await create({ reason: 'again' })).status).toBe(201);
    expect((await listed()).map(({ reason }) => reason)).toEqual(['again', first?.['reason']]);
  }); // prettier-ignore

  it('409: a run of the tenant cannot be deleted, nor is it cancelled, until the release', async () => {
    const runs = createRunClient(api);
    await runs.workflow({ pause: { type: 'delay', delay_sec: 600 } });
    const run = await runs.run();
    const id = readId(await create({ reason: 'r' }));

    const remove = () => api.as('admin').del(`/api/v1/workflow-runs/${run}`);
    expect(statusAndCode(await remove())).toEqual({ status: 409, code: 'legal_hold_active' });
    expect((await runs.get(run)).body).not.toMatchObject({ status: 'cancelled' });
    await release(id);
    expect(statusAndCode(await remove()).code).not.toBe('legal_hold_active');
  });

  it('400: a reason is required; 404: an unknown id', async () => {
    for (const body of [{}, { reason: '' }, { reason: '  ' }, { reason: 'x'.repeat(2_001) }])
      expect(statusAndCode(await create(body))).toEqual({ status: 400, code: 'legal_hold_reason_required' });
    expect(statusAndCode(await release('nothing'))).toEqual({ status: 404, code: 'legal_hold_not_found' });
  });

  it('403, 404: other tenants neither create, see nor release it; cross-tenant callers do', async () => {
    const id = readId(await create({ reason: 'ours' }));

    expect(statusAndCode(await create({ reason: 'x', tenant_id: 'acme' }, 'other')).status).toBe(403);
    expect(await listed('other')).toEqual([]);
    expect((await api.as('other').get('/api/v1/audit/legal-holds?tenant=acme')).status).toBe(403);
    expect(statusAndCode(await release(id, 'other'))).toEqual({ status: 404, code: 'legal_hold_not_found' });

    const house = readId(await create({ reason: 'of the installation' }, 'everywhere'));
    await create({ reason: 'theirs', tenant_id: 'globex' }, 'everywhere');
    expect((await listed('everywhere')).map(({ tenant_id }) => tenant_id)).toEqual(['globex', 'house', 'acme']);
    expect((await listed('everywhere', '?tenant=house')).map((hold) => hold['id'])).toEqual([house]);
    expect((await release(id, 'everywhere')).status).toBe(200);
    // Recorded in the chain of the tenant, and in that of the actor.
    expect((await recorded('other')).map(({ reason }) => reason)).toEqual(['theirs']);
    expect((await recorded('admin')).map(({ event_type }) => event_type)).toContain('legal_hold.released');
  });

  it('403: without the entitlement, on every route', async () => {
    const id = readId(await create({ reason: 'before' }));
    api.license('team');

    for (const answer of [await create({ reason: 'x' }), await release(id), await api.as('admin').get('/api/v1/audit/legal-holds')])
      expect(statusAndCode(answer)).toEqual({ status: 403, code: 'tier_limit_exceeded' });
  }); // prettier-ignore
});
