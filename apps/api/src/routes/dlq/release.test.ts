import type { OutputSafetyRecord } from '@svc/store';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

describe('POST /api/v1/dlq/:job_id/release', () => {
  const api = useApi();
  const verdict: OutputSafetyRecord = { decision: 'QUARANTINE', reason: 'a key', rule_id: 'leaks', policy_snapshot: 's', findings: [], phase: 'async', checked_at: 1, check_duration_ms: 1 }; // prettier-ignore
  const release = (id: string, reason: unknown = 'a false alarm', who: Parameters<typeof api.as>[0] = 'admin') =>
    api.as(who).post(`/api/v1/dlq/${id}/release`, { reason });
  const confirm = (id: string) => api.as('admin').del(`/api/v1/dlq/${id}`);
  const detail = async (id: string) => (await api.as('viewer').get(`/api/v1/jobs/${id}`)).body;
  const audit = async (query = '') =>
    (await api.as('admin').get(`/api/v1/policy/audit?type=output${query}`)).body['items'] as { action: string }[];
  const letters = async () => (await api.as('admin').get('/api/v1/dlq')).body;

  const quarantined = async (id: string, more: object = {}) =>
    api.given.job({
      id,
      state: 'OUTPUT_QUARANTINED',
      result: { canary: 1 },
      fields: {
        output_safety: { ...verdict, original_ptr: `redis://res:${id}`, ...more },
        artifact_ptrs: ['redis://art:a'],
      },
    });

  it('200: makes the original readable, keeps the state of the job, and records the caller', async () => {
    const id = await quarantined('held');
    expect(await detail(id)).toMatchObject({ result: null, result_ptr: '' });
    expect(await detail(id)).not.toHaveProperty('artifact_ptrs');

    const { status, body } = await release(id, '  a false alarm ');

    expect({ status, body }).toEqual({ status: 200, body: { job_id: id, result_ptr: `redis://res:${id}` } });
    expect(await detail(id)).toMatchObject({
      state: 'OUTPUT_QUARANTINED',
      result: { canary: 1 },
      result_ptr: `redis://res:${id}`,
      artifact_ptrs: ['redis://art:a'],
      output_safety: {
        ...verdict,
        release_reason: 'a false alarm',
        released_by: expect.stringMatching(/./),
        released_at: expect.any(Number),
      },
    });
    expect((await api.as('admin').get(`/api/v1/memory?key=res:${id}`)).body).toMatchObject({ json: { canary: 1 } });
    expect(await letters()).toEqual([]);
    expect(await api.store.redis.zcard('{s0}:dead-letters:failed')).toBe(0);
    expect((await api.store.jobs.events(id)).at(-1)).toMatchObject({ event: 'quarantine' });
  });

  it('200: replaces a redacted copy with the original', async () => {
    const redacted = 'redis://res:copied:redacted:00';
    const id = await quarantined('copied', { redacted_ptr: redacted });
    await api.store.redis.hset(`{s0}:job:${id}`, 'result_ptr', redacted);

    await release(id);

    expect(await detail(id)).toMatchObject({ result_ptr: `redis://res:${id}`, result: { canary: 1 } });
  });

  it('200: of concurrent releases one succeeds; the others get 409', async () => {
    const id = await quarantined('held');

    const answers = await Promise.all(Array.from({ length: 6 }, () => release(id)));

    expect(answers.map(statusAndCode).sort((a, b) => a.status - b.status)).toEqual([
      { status: 200, code: undefined },
      ...Array.from({ length: 5 }, () => ({ status: 404, code: 'dlq_entry_not_found' })),
    ]);
    expect(await audit('&action=output_release')).toHaveLength(1);
  });

  it('the audit records releases, confirmations and withheld outputs', async () => {
    const [released, confirmed] = [await quarantined('one'), await quarantined('two')];

    await release(released, 'a false alarm');
    await confirm(confirmed);

    const entries = await audit();
    expect(entries).toHaveLength(4);
    expect(entries.filter(({ action }) => action !== 'output_quarantine')).toMatchObject([
      { action: 'output_confirm', resource_id: confirmed, job_id: confirmed, rule_id: 'leaks' },
      {
        action: 'output_release',
        resource_id: released,
        message: 'a false alarm',
        actor_id: expect.stringMatching(/./),
        original_ptr: `redis://res:${released}`,
      },
    ]);
    expect(await audit('&rule_id=other')).toEqual([]);
  });

  it('404: after a confirmation by DELETE, which records the caller', async () => {
    const id = await quarantined('held');

    expect((await confirm(id)).status).toBe(204);

    expect(await detail(id)).toMatchObject({
      result: null,
      result_ptr: '',
      output_safety: { confirmed_at: expect.any(Number), confirmed_by: expect.stringMatching(/./) },
    });
    expect(statusAndCode(await release(id))).toEqual({ status: 404, code: 'dlq_entry_not_found' });
    expect((await confirm(id)).status).toBe(204);
    expect(await audit('&action=output_confirm')).toHaveLength(1);
  });

  it('of a concurrent release and confirmation, exactly one succeeds', async () => {
    const id = await quarantined('held');

    const [answer] = await Promise.all([release(id), confirm(id)]);

    const kept = Object.keys((await detail(id))['output_safety'] as object);
    const isReleased = answer.status === 200;
    expect(kept.includes('released_at')).toBe(isReleased);
    expect(kept.includes('confirmed_at')).toBe(!isReleased);
    expect(await letters()).toEqual([]);
  });

  it.each(['FAILED', 'TIMEOUT', 'DENIED'] as const)('409: a job that ended %s has no output to release', async (state) => {
    const id = await api.given.job({ state });

    expect(statusAndCode(await release(id))).toEqual({ status: 409, code: 'output_not_releasable' });
    expect(await letters()).toHaveLength(1);
  });

  it('409: a quarantine without a result', async () => {
    const id = await quarantined('empty', { original_ptr: '' });

    expect(statusAndCode(await release(id))).toEqual({ status: 409, code: 'output_not_releasable' });
  });

  it('410: an expired original; nothing changes', async () => {
    const id = await quarantined('gone');
    await api.store.redis.del(`res:${id}`);

    expect(statusAndCode(await release(id))).toEqual({ status: 410, code: 'output_expired' });

    expect(await letters()).toHaveLength(1);
    expect((await detail(id))['output_safety']).not.toHaveProperty('released_at');
    expect(await audit('&action=output_release')).toEqual([]);
  });

  it('404: a succeeded job and an unknown job', async () => {
    const done = await api.given.job({ state: 'SUCCEEDED' });

    for (const id of [done, 'nothing-of-that-name']) {
      expect(statusAndCode(await release(id))).toEqual({ status: 404, code: 'dlq_entry_not_found' });
    }
  });

  it('403: another tenant, and callers other than admins; nothing changes', async () => {
    const id = await quarantined('held');

    expect(statusAndCode(await release(id, 'x', 'other'))).toEqual({ status: 403, code: 'tenant_access_denied' });
    expect((await release(id, 'x', 'viewer')).status).toBe(403);
    expect(await letters()).toHaveLength(1);
  });

  it.each([[''], ['   '], ['x'.repeat(2_001)], [7], [undefined]])('400: the reason %j', async (reason) => {
    const id = await quarantined('held');

    expect((await release(id, reason ?? null)).status).toBe(400);
    expect(await letters()).toHaveLength(1);
  });
}); // prettier-ignore
