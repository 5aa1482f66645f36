import { JobStatus, subjects } from '@svc/contract';
import { keys } from '@svc/store';
import { allowAll, ruled, useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const { jobResult, jobDlq } = subjects;

/** Submits a job under one policy and has the scheduler decide it under another. */
async function acceptedThen(policy: string, body = {}) {
  await use.start({ idle: true });
  const id = await use.submit(body);
  await use.policy(policy);
  return id;
}

describe('an allowed job', () => {
  it('runs on a worker, and its result is checked and stored', async () => {
    await use.start({ policy: allowAll });
    await use.worker({ id: 'w1' });

    const id = await use.submit({ prompt: 'hi' });

    const job = await use.until(id, 'SUCCEEDED');
    expect(job).toMatchObject({ worker_id: 'w1', pool: 'main', attempts: 1, result_ptr: `redis://res:${id}` });
    expect(job.output_safety).toMatchObject({ decision: 'ALLOW', phase: 'sync' });
    expect(String(await use.store.data.result(id))).toBe('{"echo":"hi"}');
    expect(await use.path(id)).toEqual(['PENDING', 'DISPATCHED', 'RUNNING', 'SUCCEEDED']);
  });

  it('is dispatched with the effective settings of its scope', async () => {
    await use.orgConfig('acme', { models: { allowed: ['small'] } });
    await use.start({ config: { retry: { max_retries: 1 }, models: { allowed: [] } } });
    const worker = await use.rawWorker({ id: 'w1' });

    const { env } = await worker.dispatched(await use.submit());

    const settings = { retry: { max_retries: 1 }, models: { allowed: ['small'] } };
    expect(JSON.parse(env['SVC_EFFECTIVE_CONFIG'] ?? '')).toEqual(settings);
  });

  it('is dispatched with the stricter value of each restricting setting, whichever team it names', async () => {
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

  it('is dispatched with an empty effective config when no document exists', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1' });

    const { env } = await worker.dispatched(await use.submit());

    expect(env['SVC_EFFECTIVE_CONFIG']).toBe('{}');
  });
});

describe('a job that policy denies in the scheduler', () => {
  it('ends DENIED with a dead letter, and the result is published', async () => {
    const id = await acceptedThen(ruled('deny'));
    await use.rawWorker({ id: 'w1' });

    const { events } = await use.start();

    const job = await use.until(id, 'DENIED');
    expect(job).toMatchObject({ error_code: 'safety_denied', error_message: 'because', attempts: 0 });
    expect(job.safety).toMatchObject({ decision: 'DENY', rule_id: 'the-rule', source: 'scheduler' });
    expect(await use.deadLetter(id)).toMatchObject({ reason_code: 'safety_denied', last_state: 'PENDING' });
    await use.published('job_result', jobDlq.name, id);
    expect(await use.published('job_result', jobResult.name, id)).toMatchObject([
      { status: JobStatus.JOB_STATUS_DENIED, error_code: 'safety_denied' },
    ]);
    expect(events.map(([name]) => name)).toContain('denied');
  });
});

describe('a held job', () => {
  it('runs once when it is approved, even by several people at once', async () => {
    await use.start({ policy: ruled('require_approval') });
    const worker = await use.rawWorker({ id: 'w1', answers: () => ['SUCCEEDED'] });
    const id = await use.submit();
    await use.until(id, 'APPROVAL_REQUIRED');

    await Promise.allSettled(Array.from({ length: 5 }, () => use.approve(id)));

    const job = await use.until(id, 'SUCCEEDED');
    expect(worker.order()).toEqual([id]);
    expect(worker.received[0]?.labels).toMatchObject({ approval_granted: 'true' });
    expect(job.approval).toMatchObject({ status: 'approved', resolved_by: 'boss' });
    // One decision: the approval replaces a second policy check.
    expect((await use.store.jobs.decisions(id, 10)).map(({ source }) => source)).toEqual(['gateway']);
  });

  it('is held by the scheduler when policy changed after its submission', async () => {
    const id = await acceptedThen(ruled('require_approval'));
    await use.worker({ id: 'w1' });

    await use.start();
    await use.until(id, 'APPROVAL_REQUIRED');
    await use.approve(id);

    await use.until(id, 'SUCCEEDED', { attempts: 1 });
  });

  it('is evaluated again when policy changed after its approval', async () => {
    await use.start({ policy: ruled('require_approval'), idle: true });
    const id = await use.submit();
    await use.approve(id);
    await use.policy(ruled('deny'));

    await use.start();

    await use.until(id, 'DENIED', { error_code: 'safety_denied' });
  });

  it('is evaluated again when its approval was for another request', async () => {
    await use.start({ policy: ruled('require_approval'), idle: true });
    const id = await use.submit();
    await use.approve(id);
    const { request } = await use.job(id);
    await use.redis.hset(keys.job(id), 'request', JSON.stringify({ ...request, principal_id: 'mallory' }));

    await use.start();

    const job = await use.until(id, 'APPROVAL_REQUIRED');
    expect(job.approval).toMatchObject({ status: 'pending' });
  });

  it('ends DENIED without running when it is rejected', async () => {
    await use.start({ policy: ruled('require_approval') });
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();

    await use.reject(id);

    await use.until(id, 'DENIED', { error_code: 'approval_rejected', error_message: 'no' });
    expect(await use.deadLetter(id)).toMatchObject({ reason_code: 'approval_rejected', reason: 'no' });
    await expect(use.approve(id)).rejects.toMatchObject({ errorCode: 'approval_already_resolved' });
    expect(worker.received).toEqual([]);
  });

  it('ends DENIED when its approval expires', async () => {
    await use.start({ policy: ruled('require_approval'), env: { approvalTtlMs: 200 } });

    const id = await use.submit();

    const job = await use.until(id, 'DENIED', { error_code: 'approval_expired' });
    expect(job.approval).toMatchObject({ status: 'invalidated', decision: 'expire' });
    expect(await use.deadLetter(id)).toMatchObject({ reason_code: 'approval_expired' });
    await expect(use.approve(id)).rejects.toMatchObject({ errorCode: 'approval_already_resolved' });
  });
});

describe('a throttled job', () => {
  it('waits for the delay of the rule and then runs', async () => {
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

describe('when policy is unavailable', () => {
  it('fail mode closed: the job waits with that reason and runs once policy recovers', async () => {
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

  it('fail mode open: the job runs, marked as undecided in its record and for its worker', async () => {
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

  it('fail mode open: a job that waits for its worker keeps the mark', async () => {
    await use.start({ env: { policyCheckFailMode: 'open' } });
    use.broken.add('check');
    const id = await use.submit();
    await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });

    const worker = await use.rawWorker({ id: 'w1', answers: () => ['SUCCEEDED'] });

    await use.until(id, 'SUCCEEDED');
    expect(worker.received[0]?.labels).toMatchObject({ safety_bypassed: 'true' });
  });

  it('a tenant may set its own fail mode', async () => {
    await use.orgConfig('bolt', { scheduler: { input_fail_mode: 'open' } });
    await use.start();
    await use.rawWorker({ id: 'w1', max: 9, answers: () => ['SUCCEEDED'] });
    use.broken.add('check');

    const [careful, bold] = [await use.submit(), await use.submit({}, 'bolt')];

    await use.until(bold, 'SUCCEEDED');
    await use.until(careful, 'PENDING', { waiting_reason: 'safety_unavailable' });
  });
});

describe('the job of an approval step', () => {
  const topic = 'job.svc.approval-gate';

  it('succeeds by its approval, without a worker, and publishes the result', async () => {
    await use.start({ policy: ruled('require_approval') });
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit({ topic });

    await use.approve(id);

    await use.until(id, 'SUCCEEDED', { attempts: 0 });
    expect(await use.published('job_result', jobResult.name, id)).toMatchObject([
      { status: JobStatus.JOB_STATUS_SUCCEEDED },
    ]);
    expect(worker.received).toEqual([]);
  });

  it('publishes DENIED when it is rejected', async () => {
    await use.start({ policy: ruled('require_approval') });
    const id = await use.submit({ topic });

    await use.reject(id);

    await use.until(id, 'DENIED');
    expect(await use.published('job_result', jobResult.name, id)).toMatchObject([
      { status: JobStatus.JOB_STATUS_DENIED },
    ]);
  });
});
