import { JobStatus, subjects } from '@svc/contract';
import { keys } from '@svc/store';
import { allowAll, ruled, useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const { jobResult, jobDlq } = subjects;

/** A job accepted under one policy and looked at by the scheduler under another. */
async function acceptedThen(policy: string, body = {}) {
  await use.start({ idle: true });
  const id = await use.submit(body);
  await use.policy(policy);
  return id;
}

describe('an allowed job', () => {
  it('runs on a worker, and its result is checked and kept', async () => {
    await use.start({ policy: allowAll });
    await use.worker({ id: 'w1' });

    const id = await use.submit({ prompt: 'hi' });

    const job = await use.until(id, 'SUCCEEDED');
    expect(job).toMatchObject({ worker_id: 'w1', pool: 'main', attempts: 1, result_ptr: `redis://res:${id}` });
    expect(job.output_safety).toMatchObject({ decision: 'ALLOW', phase: 'sync' });
    expect(String(await use.store.data.result(id))).toBe('{"echo":"hi"}');
    expect(await use.path(id)).toEqual(['PENDING', 'DISPATCHED', 'RUNNING', 'SUCCEEDED']);
  });

  it('brings its worker the settings that hold where it stands', async () => {
    await use.orgConfig('acme', { models: { allowed: ['small'] } });
    await use.start({ config: { retry: { max_retries: 1 }, models: { allowed: [] } } });
    const worker = await use.rawWorker({ id: 'w1' });

    const { env } = await worker.dispatched(await use.submit());

    const settings = { retry: { max_retries: 1 }, models: { allowed: ['small'] } };
    expect(JSON.parse(env['SVC_EFFECTIVE_CONFIG'] ?? '')).toEqual(settings);
  });

  it('brings its worker the stricter value of each restricting setting, whatever team it names', async () => {
    await use.orgConfig('acme', {
      models: { allowed_models: ['small', 'large'] },
      safety: { blocked_categories: ['b'] },
    });
    await use.document('team', 'lax', { models: { allowed_models: ['huge'] }, safety: { pii_action: 'warn' } });
    const safety = { blocked_categories: ['a'], pii_action: 'redact', injection_detection: true };
    await use.start({ config: { models: { allowed_models: ['small', 'tiny'] }, safety } });
    const worker = await use.rawWorker({ id: 'w1' });

    const { env } = await worker.dispatched(await use.submit({ team_id: 'lax' }));

    expect(JSON.parse(env['SVC_EFFECTIVE_CONFIG'] ?? '')).toEqual({
      models: { allowed_models: [['huge'], ['large', 'small'], ['small', 'tiny']] },
      safety: { ...safety, blocked_categories: ['a', 'b'] },
    });
  });

  it('brings its worker an empty effective config when no document exists', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1' });

    const { env } = await worker.dispatched(await use.submit());

    expect(env['SVC_EFFECTIVE_CONFIG']).toBe('{}');
  });
});

describe('a job that policy denies by the time the scheduler asks', () => {
  it('ends DENIED with a dead letter, and tells the bus', async () => {
    const id = await acceptedThen(ruled('deny'));
    await use.rawWorker({ id: 'w1' });

    const { events } = await use.start();

    const job = await use.until(id, 'DENIED');
    expect(job).toMatchObject({ error_code: 'safety_denied', error_message: 'because', attempts: 0 });
    expect(job.safety).toMatchObject({ decision: 'DENY', rule_id: 'the-rule', source: 'scheduler' });
    expect(await use.deadLetter(id)).toMatchObject({ reason_code: 'safety_denied', last_state: 'PENDING' });
    await use.said('job_result', jobDlq.name, id);
    expect(await use.said('job_result', jobResult.name, id)).toMatchObject([
      { status: JobStatus.JOB_STATUS_DENIED, error_code: 'safety_denied' },
    ]);
    expect(events.map(([name]) => name)).toContain('denied');
  });
});

describe('a held job', () => {
  it('runs once when a person approves it, however many approve at once', async () => {
    await use.start({ policy: ruled('require_approval') });
    const worker = await use.rawWorker({ id: 'w1', answers: () => ['SUCCEEDED'] });
    const id = await use.submit();
    await use.until(id, 'APPROVAL_REQUIRED');

    await Promise.allSettled(Array.from({ length: 5 }, () => use.approve(id)));

    const job = await use.until(id, 'SUCCEEDED');
    expect(worker.order()).toEqual([id]);
    expect(worker.received[0]?.labels).toMatchObject({ approval_granted: 'true' });
    expect(job.approval).toMatchObject({ status: 'approved', resolved_by: 'boss' });
    // Decided once: the approval stands for the check.
    expect((await use.store.jobs.decisions(id, 10)).map(({ source }) => source)).toEqual(['gateway']);
  });

  it('is held by the scheduler too, when policy changed after the job was accepted', async () => {
    const id = await acceptedThen(ruled('require_approval'));
    await use.worker({ id: 'w1' });

    await use.start();
    await use.until(id, 'APPROVAL_REQUIRED');
    await use.approve(id);

    await use.until(id, 'SUCCEEDED', { attempts: 1 });
  });

  it('is asked about again when the policy changed after its approval', async () => {
    await use.start({ policy: ruled('require_approval'), idle: true });
    const id = await use.submit();
    await use.approve(id);
    await use.policy(ruled('deny'));

    await use.start();

    await use.until(id, 'DENIED', { error_code: 'safety_denied' });
  });

  it('is asked about again when its approval was for another request', async () => {
    await use.start({ policy: ruled('require_approval'), idle: true });
    const id = await use.submit();
    await use.approve(id);
    const { request } = await use.job(id);
    await use.redis.hset(keys.job(id), 'request', JSON.stringify({ ...request, principal_id: 'mallory' }));

    await use.start();

    const job = await use.until(id, 'APPROVAL_REQUIRED');
    expect(job.approval).toMatchObject({ status: 'pending' });
  });

  it('ends DENIED when it is rejected, and nothing runs', async () => {
    await use.start({ policy: ruled('require_approval') });
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();

    await use.reject(id);

    await use.until(id, 'DENIED', { error_code: 'approval_rejected', error_message: 'no' });
    expect(await use.deadLetter(id)).toMatchObject({ reason_code: 'approval_rejected', reason: 'no' });
    await expect(use.approve(id)).rejects.toMatchObject({ errorCode: 'approval_already_resolved' });
    expect(worker.received).toEqual([]);
  });

  it('ends DENIED when nobody decides in time', async () => {
    await use.start({ policy: ruled('require_approval'), env: { approvalTtlMs: 200 } });

    const id = await use.submit();

    const job = await use.until(id, 'DENIED', { error_code: 'approval_expired' });
    expect(job.approval).toMatchObject({ status: 'invalidated', decision: 'expire' });
    expect(await use.deadLetter(id)).toMatchObject({ reason_code: 'approval_expired' });
    await expect(use.approve(id)).rejects.toMatchObject({ errorCode: 'approval_already_resolved' });
  });
});

describe('a throttled job', () => {
  it('waits as long as the rule says, and then runs', async () => {
    const id = await acceptedThen(ruled('throttle', 'throttle_duration: 1s'));
    await use.worker({ id: 'w1' });

    await use.start();
    await use.until(id, 'PENDING', { waiting_reason: 'throttled' });
    await use.policy(allowAll);

    const job = await use.until(id, 'SUCCEEDED');
    expect(job.waiting_reason).toBeUndefined();
    const [last, first] = await use.store.jobs.decisions(id, 10);
    expect([first?.decision, last?.decision]).toEqual(['ALLOW', 'ALLOW']);
  });
});

describe('when policy does not answer', () => {
  it('fail mode closed: the job waits, says why, and runs once policy answers again', async () => {
    const { events } = await use.start();
    const worker = await use.rawWorker({ id: 'w1', answers: () => ['SUCCEEDED'] });
    use.broken.add('check');

    const id = await use.submit();

    await use.until(id, 'PENDING', { waiting_reason: 'safety_unavailable' });
    expect(worker.received).toEqual([]);
    use.broken.clear();
    await use.promote();
    expect((await use.until(id, 'SUCCEEDED')).waiting_reason).toBeUndefined();
    expect(events.map(([name]) => name)).toContain('safetyUnavailable');
  });

  it('fail mode open: the job runs, and record and worker know that nobody decided', async () => {
    const { events } = await use.start({ env: { policyCheckFailMode: 'open' } });
    const worker = await use.rawWorker({ id: 'w1', answers: () => ['SUCCEEDED'] });
    use.broken.add('check');

    const id = await use.submit();

    const job = await use.until(id, 'SUCCEEDED');
    expect(job.safety).toMatchObject({ decision: 'UNAVAILABLE' });
    expect(worker.received[0]?.labels).toMatchObject({
      safety_bypassed: 'true',
      safety_bypass_reason: 'safety_unavailable',
    });
    expect(events.map(([name]) => name)).toContain('failOpen');
  });

  it('fail mode open: the mark stays with a job that has to wait for its worker', async () => {
    await use.start({ env: { policyCheckFailMode: 'open' } });
    use.broken.add('check');
    const id = await use.submit();
    await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });

    const worker = await use.rawWorker({ id: 'w1', answers: () => ['SUCCEEDED'] });

    await use.until(id, 'SUCCEEDED');
    expect(worker.received[0]?.labels).toMatchObject({ safety_bypassed: 'true' });
  });

  it('a tenant may choose its own fail mode', async () => {
    await use.orgConfig('bolt', { scheduler: { input_fail_mode: 'open' } });
    await use.start();
    await use.rawWorker({ id: 'w1', max: 9, answers: () => ['SUCCEEDED'] });
    use.broken.add('check');

    const [careful, bold] = [await use.submit(), await use.submit({}, 'bolt')];

    await use.until(bold, 'SUCCEEDED');
    await use.until(careful, 'PENDING', { waiting_reason: 'safety_unavailable' });
  });
});

describe('a workflow gate', () => {
  const topic = 'job.svc.approval-gate';

  it('succeeds by its approval alone, without a worker, and says so on the bus', async () => {
    await use.start({ policy: ruled('require_approval') });
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit({ topic });

    await use.approve(id);

    await use.until(id, 'SUCCEEDED', { attempts: 0 });
    expect(await use.said('job_result', jobResult.name, id)).toMatchObject([
      { status: JobStatus.JOB_STATUS_SUCCEEDED },
    ]);
    expect(worker.received).toEqual([]);
  });

  it('answers DENIED on the bus when it is rejected', async () => {
    await use.start({ policy: ruled('require_approval') });
    const id = await use.submit({ topic });

    await use.reject(id);

    await use.until(id, 'DENIED');
    expect(await use.said('job_result', jobResult.name, id)).toMatchObject([{ status: JobStatus.JOB_STATUS_DENIED }]);
  });
});
