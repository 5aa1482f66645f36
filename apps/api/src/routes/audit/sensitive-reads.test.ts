import type { OutputSafetyRecord } from '@svc/store';
import { useApi } from '../../api.testing';
import type { Who } from '../../identities.testing';

const verdict: OutputSafetyRecord = { decision: 'QUARANTINE', reason: 'a key', rule_id: 'leaks', policy_snapshot: 's', findings: [], phase: 'async', checked_at: 1, check_duration_ms: 1 }; // prettier-ignore

describe('sensitive reads are events', () => {
  const api = useApi();
  const reads = async (who: Who = 'admin') => {
    const { body } = await api.as(who).get('/api/v1/audit/events?event_type=governance.read');
    const items = body['items'] as {
      action: string;
      identity: string;
      decision?: string;
      reason?: string;
      extra: object;
    }[];
    expect(JSON.stringify(items)).not.toContain('canary');
    return items.reverse();
  };
  const withheld = (id: string) =>
    api.given.job({
      id,
      state: 'OUTPUT_QUARANTINED',
      result: { canary: 1 },
      fields: { output_safety: { ...verdict, original_ptr: `redis://res:${id}` } },
    });

  it('of stored documents, with the job that they belong to', async () => {
    const id = await api.given.job();
    await api.as('admin').get(`/api/v1/memory?ptr=redis://ctx:${id}`);
    await api.as('admin').get('/api/v1/memory?ptr=nothing');

    expect(await reads()).toEqual([
      expect.objectContaining({
        event_type: 'governance.read',
        action: 'memory.read',
        severity: 'MEDIUM',
        identity: 'ann',
        extra: expect.objectContaining({
          endpoint: 'memory.read',
          resource_id: `ctx:${id}`,
          kind: 'context',
          source_job: id,
        }) as object,
      }),
    ]);
  });

  it('of withheld outputs, which are refused', async () => {
    const id = await withheld('held');
    const { status } = await api.as('boss').get(`/api/v1/memory?key=res:${id}`);

    expect(status).toBe(403);
    expect(await reads()).toEqual([
      expect.objectContaining({
        action: 'memory.read',
        identity: 'bob',
        decision: 'deny',
        reason: 'output_quarantined',
      }),
    ]);
  });

  it('of outputs and artifacts after their release, and not before, when nothing of them is shown', async () => {
    const id = await withheld('held');
    const { body } = await api.as('user').post('/api/v1/artifacts', { content: 'canary', labels: { job_id: id } });
    const artifact = `/api/v1/artifacts/${encodeURIComponent(String(body['artifact_ptr']))}`;
    await api.as('viewer').get(`/api/v1/jobs/${id}`);
    expect(await reads()).toEqual([]);
    expect((await api.as('viewer').get(artifact)).status).toBe(403);
    await api.as('boss').post(`/api/v1/dlq/${id}/release`, { reason: 'a false alarm' });

    expect((await api.as('viewer').get(artifact)).status).toBe(200);
    expect((await api.as('viewer').get(`/api/v1/jobs/${id}`)).body['result']).toEqual({ canary: 1 });

    expect((await reads()).map(({ action, identity, decision }) => [action, identity, decision])).toEqual([
      ['artifact.read', 'vic', 'deny'],
      ['artifact.read', 'vic', undefined],
      ['output.read', 'vic', undefined],
    ]);
  });

  it('but not of other jobs and artifacts', async () => {
    const id = await api.given.job({ state: 'SUCCEEDED', result: { canary: 1 } });
    const { body } = await api.as('user').post('/api/v1/artifacts', { content: 'canary', labels: { job_id: id } });
    await api.as('viewer').get(`/api/v1/artifacts/${encodeURIComponent(String(body['artifact_ptr']))}`);
    await api.as('viewer').get(`/api/v1/jobs/${id}`);

    expect(await reads()).toEqual([]);
  });

  it('by an administrator of several tenants, in the chain of the owner too', async () => {
    const id = await api.given.job({ tenant: 'globex' });
    await api.as('everywhere').get(`/api/v1/memory?ptr=redis://ctx:${id}`);

    expect(await reads()).toHaveLength(1);
    expect(await reads('other')).toMatchObject([{ identity: 'eve', tenant_id: 'globex' }]);
  });

  it('of another tenant, refused, are events of the caller only', async () => {
    const id = await api.given.job();
    await api.as('other').get(`/api/v1/memory?ptr=redis://ctx:${id}`);

    expect(await reads()).toEqual([]);
    expect(await reads('other')).toMatchObject([{ identity: 'gus', reason: 'tenant_access_denied' }]);
  });
});
