import { useApi } from '../../api.testing';
import type { Who } from '../../identities.testing';
import { bundleCalls } from './policy.testing';

describe('the author of a policy bundle', () => {
  const api = useApi();
  beforeEach(() => api.license('enterprise'));
  const { put, get, content } = bundleCalls(api);
  const pace = {
    id: 'pace',
    name: 'Pace',
    window: '5m',
    key: 'tenant',
    threshold: 3,
    decision: 'deny',
    reason: 'fast',
  };
  const bundles = (author: string) => ({ 'secops/a': { content: content('a'), author } });

  /** Each route that takes an author, the bundle that it writes, and whether its audit entry names the author. */
  const writes: [string, (who: Who, author: string) => Promise<{ status: number }>, string][] = [
    ['PUT bundles', (who, author) => put('secops~a', { content: content('a'), author }, {}, '', api.as(who)), 'secops~a'],
    [
      'PUT global',
      (who, author) =>
        api.as(who).put('/api/v1/policy/global', { sections: { invariants: { content: content('a') } }, author }),
      'secops~invariants',
    ],
    [
      'POST publish',
      async (who, author) => {
        await put('secops~a', { content: content('a'), enabled: false }, {}, '', api.as('boss'));
        return api.as(who).post('/api/v1/policy/publish', { author });
      },
      'secops~a',
    ],
    ['POST velocity-rules', (who, author) => api.as(who).post('/api/v1/policy/velocity-rules', { ...pace, author }), 'velocity~pace'],
    [
      'POST config',
      (who, author) => api.as(who).post('/api/v1/config', { scope: 'system', scope_id: 'policy', data: { bundles: bundles(author) } }),
      'secops~a',
    ],
  ]; // prettier-ignore

  const audited = async (): Promise<Record<string, unknown>> => {
    const { items } = (await api.as('admin').get('/api/v1/policy/audit')).body as { items: Record<string, unknown>[] };
    return items[0] ?? {};
  };

  it.each(writes)('%s: is the caller, regardless of the name in the body', async (_route, write, id) => {
    expect((await write('admin', 'bob')).status).toBeLessThan(300);

    expect((await get(id)).body['author']).toBe('ann');
    const entry = await audited();
    expect(entry['actor_id']).toBe('ann');
    expect(JSON.stringify(entry)).not.toContain('bob');
  });

  it.each(writes)('%s: is the name in the body for a credential of all tenants', async (_route, write, id) => {
    expect((await write('everywhere', 'bob')).status).toBeLessThan(300);

    expect((await get(id)).body['author']).toBe('bob');
    expect((await audited())['actor_id']).toBe('eve');
  });

  it('of a rollback is the caller in the audit, and bundles keep their authors', async () => {
    await put('secops~a', { content: content('a') }, {}, '', api.as('boss'));
    const { body } = await api.as('admin').post('/api/v1/policy/bundles/snapshots', { note: 'n' });

    expect((await api.as('admin').post('/api/v1/policy/rollback', { snapshot_id: body['id'], author: 'zoe' })).status).toBe(200);

    expect((await get('secops~a')).body['author']).toBe('bob');
    expect(await audited()).toMatchObject({ actor_id: 'ann', extra: { author: 'ann' } });
  }); // prettier-ignore

  it('is kept when a config document is written back unchanged', async () => {
    await put('secops~a', { content: content('a') }, {}, '', api.as('boss'));
    const read = (await api.as('admin').get('/api/v1/config?scope=system&scope_id=policy')).body;

    const sent = { scope: 'system', scope_id: 'policy', data: { bundles: read['bundles'] } };
    expect((await api.as('admin').post('/api/v1/config', sent)).status).toBe(204);

    expect((await get('secops~a')).body['author']).toBe('bob');
  });
});
