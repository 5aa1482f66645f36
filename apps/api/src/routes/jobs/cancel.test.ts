import { eventually } from '@svc/testing';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

describe('POST /api/v1/jobs/:id/cancel', () => {
  const api = useApi();
  const cancel = (id: string, who: 'admin' | 'other' = 'admin') => api.as(who).post(`/api/v1/jobs/${id}/cancel`);

  it('200: of concurrent calls, one cancels and workers are notified once', async () => {
    const id = await api.given.job({ state: 'RUNNING' });

    const answers = await Promise.all(Array.from({ length: 8 }, () => cancel(id)));

    const cancelled = answers.filter(({ body }) => !body['reason']);
    expect(cancelled.map(({ status, body }) => ({ status, body }))).toEqual([
      { status: 200, body: { id, state: 'CANCELLED' } },
    ]);
    await eventually(async () => expect(await api.packets()).toEqual(['sys.job.result', 'sys.job.cancel']));
  });

  it.each(['PENDING', 'APPROVAL_REQUIRED', 'SCHEDULED', 'DISPATCHED', 'RUNNING', 'RETRYING'] as const)(
    '200: a job in %s is cancelled, and all events are published',
    async (state) => {
      const id = await api.given.job({ state });

      const { status, body } = await cancel(id);

      expect({ status, body }).toEqual({ status: 200, body: { id, state: 'CANCELLED' } });
      // The response does not wait for the bus.
      await eventually(async () => expect((await api.store.jobs.load(id))?.intent).toBeUndefined());
      expect(await api.store.index.unpublished(Date.now() * 2_000, 10)).toEqual([]);
      expect((await api.as('admin').get(`/api/v1/jobs/${id}`)).body['state']).toBe('CANCELLED');
    },
  );

  it.each(['SUCCEEDED', 'FAILED', 'DENIED', 'TIMEOUT', 'CANCELLED', 'OUTPUT_QUARANTINED'] as const)(
    '200: a job in %s is unchanged, and nothing is published',
    async (state) => {
      const id = await api.given.job({ state });

      const { status, body } = await cancel(id);

      expect({ status, body }).toEqual({ status: 200, body: { id, state, reason: 'job already terminal' } });
      expect(await api.packets()).toEqual([]);
    },
  );

  it('200: the approval of a cancelled held job is no longer actionable', async () => {
    const id = await api.given.job({ state: 'APPROVAL_REQUIRED' });

    await cancel(id);

    const { body } = await api.as('admin').get(`/api/v1/approvals?include_resolved=false`);
    expect(body['items']).toEqual([]);
    expect(statusAndCode(await api.as('admin').post(`/api/v1/approvals/${id}/approve`))).toEqual({
      status: 409,
      code: 'approval_already_resolved',
    });
  });

  it('404: an unknown job', async () => {
    expect(statusAndCode(await cancel('nothing-of-that-name'))).toEqual({ status: 404, code: 'job_not_found' });
  });

  it('403: a job of another tenant is unchanged', async () => {
    const id = await api.given.job();

    expect(statusAndCode(await cancel(id, 'other'))).toEqual({ status: 403, code: 'tenant_access_denied' });

    expect((await api.store.jobs.load(id))?.state).toBe('PENDING');
    expect(await api.packets()).toEqual([]);
  });
});
