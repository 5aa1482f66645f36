import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

describe('POST /api/v1/jobs/:id/remediate', () => {
  const api = useApi();
  const remediate = (id: string, body?: unknown) => api.as('admin').post(`/api/v1/jobs/${id}/remediate`, body);
  const archive = {
    id: 'archive',
    replacement_topic: 'job.demo.archive',
    replacement_capability: 'archive',
    add_labels: { mode: 'archive', color: 'blue' },
    remove_labels: ['danger'],
  };
  const denied = (remediations: { id: string }[] = [archive]) =>
    api.given.job({
      state: 'DENIED',
      topic: 'job.demo.wipe',
      context: { path: '/' },
      labels: { color: 'red', danger: 'yes', kept: '1', approval_granted: 'true', 'svc.bus_msg_id': 'm', _source: 'api' },
      request: { idempotency_key: 'k', deadline_ms: 60_000 },
      safety: { remediations },
    });

  it('200: resubmits the job with the proposed remediation', async () => {
    const original = await denied();

    const { status, body } = await remediate(original);

    expect({ status, body }).toEqual({ status: 200, body: { job_id: expect.any(String), trace_id: `trace-of-${original}` } });
    const { body: made } = await api.as('admin').get(`/api/v1/jobs/${String(body['job_id'])}`);
    expect(made).toMatchObject({
      state: 'PENDING',
      topic: 'job.demo.archive',
      capability: 'archive',
      parent_job_id: original,
      idempotency_key: '',
      trace_id: `trace-of-${original}`,
      labels: { color: 'blue', mode: 'archive', kept: '1', remediation_of: original, remediation_id: 'archive' },
      context: { context: { path: '/' } },
    });
    expect(Object.keys(made['labels'] as object)).toHaveLength(5);
    expect(made['deadline_unix']).toBeGreaterThan(Date.now() * 1_000);
    expect((await api.as('admin').get(`/api/v1/jobs/${original}`)).body['state']).toBe('DENIED');
  });

  it('200: remediations of the shipped policy lead to accepted jobs', async () => {
    const wipe = { prompt: 'x', topic: 'job.demo.wipe', risk_tags: ['destructive'] };
    const { body } = await api.as('user').post('/api/v1/jobs', wipe);

    const remedied = await remediate(String(body['job_id']), { remediation_id: 'archive' });

    expect(remedied.status).toBe(200);
    expect((await api.store.jobs.load(String(remedied.body['job_id'])))?.topic).toBe('job.demo.archive');
  });

  it('200: the named one of several', async () => {
    const original = await denied([archive, { ...archive, id: 'later' }]);

    const { body } = await remediate(original, { remediation_id: 'later' });

    expect((await api.store.jobs.load(String(body['job_id'])))?.request.labels['remediation_id']).toBe('later');
  });

  it('400: several, and none named', async () => {
    const answer = await remediate(await denied([archive, { ...archive, id: 'later' }]), {});

    expect(answer.body).toMatchObject({ status: 400, code: 'remediation_id_required', remediations: ['archive', 'later'] });
  });

  it.each([
    ['an unknown job', async () => 'nothing-of-that-name', undefined, 404, 'job_not_found'],
    ['a remediation that policy did not propose', () => denied(), 'else', 404, 'remediation_not_found'],
    ['a job without remediations', () => api.given.job(), undefined, 409, 'no_remediations_available'],
  ])('%s', async (_what, given, remediation_id, status, code) => {
    const id = await given();

    expect(statusAndCode(await remediate(id, remediation_id && { remediation_id }))).toEqual({ status, code });
  });
}); // prettier-ignore
