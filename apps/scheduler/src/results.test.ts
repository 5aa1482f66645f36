import { jobResultPacket, encodePacket, JobStatus, subjects } from '@svc/contract';
import { eventually } from '@svc/testing';
import { FatalError, RetryableError, type Job } from '@svc/worker-sdk';
import { ruled, useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const { jobResult, jobDlq, alert } = subjects;
const quickRetries = { retry: { initial_backoff: '10ms', max_backoff: '20ms', max_retries: 2 } };
const ignored = (events: readonly (readonly unknown[])[], id: string) =>
  events.flatMap(([name, job, why]) => (name === 'ignoredResult' && job === id ? [why] : []));

describe('constraints of policy', () => {
  const constraints = `constraints:
  budgets: { max_runtime_ms: 300, max_retries: 0, max_artifact_bytes: 1000 }
  sandbox: { isolated: true, network_allowlist: [ledger.internal] }
  redaction_level: strict`;

  it('reach the worker in camelCase, and single ones as separate variables', async () => {
    await use.start({ policy: ruled('allow_with_constraints', constraints) });
    let seen: Job | undefined;
    await use.worker({ id: 'w1', topics: { 'job.>': (job) => void (seen = job) } });

    await use.until(await use.submit(), 'SUCCEEDED');

    expect(seen?.constraints).toEqual({
      budgets: { maxRuntimeMs: 300, maxRetries: 0, maxArtifactBytes: 1_000 },
      sandbox: { isolated: true, networkAllowlist: ['ledger.internal'] },
      redactionLevel: 'strict',
    });
    expect(seen?.env).toMatchObject({
      SVC_REDACTION_LEVEL: 'strict',
      SVC_MAX_ARTIFACT_BYTES: '1000',
      SVC_MAX_RETRIES: '0',
    });
  });

  it('max_runtime_ms ends a job that runs longer, however much progress it reports', async () => {
    await use.start({ policy: ruled('allow_with_constraints', constraints) });
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    const request = await worker.dispatched(id);
    const reports = setInterval(() => worker.progress(id), 50);

    const job = await use.until(id, 'TIMEOUT').finally(() => clearInterval(reports));

    expect(request.budget?.deadline_ms).toBe(300);
    expect(job).toMatchObject({ error_code: 'timeout', last_state: 'RUNNING' });
    await use.published('job_cancel', subjects.jobCancel.name, id);
  });
});

describe('a retryable failure', () => {
  it('is retried after a backoff, on the same job, and cleared by a success', async () => {
    await use.start({ config: quickRetries });
    const attempts: number[] = [];
    const topics = {
      'job.>': ({ attempt }: Job) => {
        attempts.push(attempt);
        if (attempt < 3) throw new RetryableError('not yet', { code: 'busy' });
      },
    };
    await use.worker({ id: 'w1', topics });

    const id = await use.submit();

    const job = await use.until(id, 'SUCCEEDED', { attempts: 3, retry_count: 2 });
    expect(attempts).toEqual([1, 2, 3]);
    expect(job).not.toHaveProperty('error_message');
    expect(job).not.toHaveProperty('error_code');
    expect((await use.path(id)).filter((state) => state === 'RETRYING')).toHaveLength(2);
  });

  it('ends in max_retries_exceeded when no retries are left', async () => {
    await use.start({ config: quickRetries });
    await use.rawAnswering('FAILED_RETRYABLE', { error_code: 'busy', error_message: 'not yet' });

    const id = await use.submit();

    await use.until(id, 'FAILED', { error_code: 'max_retries_exceeded', attempts: 3, retry_count: 2 });
    expect(await use.deadLetter(id)).toMatchObject({ reason_code: 'max_retries_exceeded', attempts: 3 });
    await use.published('job_result', jobDlq.name, id);
  });

  it('a topic’s max_retries wins over settings, and policy’s cap over both', async () => {
    const timeouts = { topics: { 'job.often': { max_retries: 4 }, 'job.once': { max_retries: 1 } } };
    await use.start({ config: quickRetries, timeouts });
    await use.rawAnswering('FAILED_RETRYABLE');

    const [often, once] = [await use.submit({ topic: 'job.often' }), await use.submit({ topic: 'job.once' })];

    await use.until(often, 'FAILED', { attempts: 5 });
    await use.until(once, 'FAILED', { attempts: 2 });
    await use.policy(ruled('allow_with_constraints', 'constraints: { budgets: { max_retries: 3 } }'));
    await use.until(await use.submit({ topic: 'job.often' }), 'FAILED', { attempts: 4 });
  });

  it('codes and messages are bounded', async () => {
    await use.start();
    await use.rawAnswering('FAILED_FATAL', { error_code: 'c'.repeat(9_000), error_message: 'm'.repeat(9_000) });

    const { error_code, error_message } = await use.until(await use.submit(), 'FAILED');

    expect([error_code?.length, error_message?.length]).toEqual([256, 2_000]);
  });

  it('a retryable code in the settings makes a plain failure retryable; a non-retryable code wins', async () => {
    const retry = { ...quickRetries.retry, retryable_errors: ['flaky'], non_retryable_errors: ['never'] };
    await use.start({ config: { retry } });
    await use.rawAnswering('FAILED', { error_code: 'flaky' }, 'flaky');
    await use.rawAnswering('FAILED_RETRYABLE', { error_code: 'never' }, 'never');

    const flaky = await use.submit({ labels: { preferred_worker_id: 'flaky' } });
    await use.until(flaky, 'FAILED', { error_code: 'max_retries_exceeded' });
    const never = await use.submit({ labels: { preferred_worker_id: 'never' } });
    await use.until(never, 'FAILED', { error_code: 'never', attempts: 1 });
  });

  it('is retried even if labels claim that the job is a step of a run', async () => {
    await use.start({ config: quickRetries });
    await use.rawAnswering('FAILED_RETRYABLE', { error_code: 'busy' });

    const id = await use.submit({ labels: { run_id: 'r1', workflow_id: 'f1', step_id: 's1' } });

    await use.until(id, 'FAILED', { error_code: 'max_retries_exceeded', attempts: 3 });
  });
});

describe('other terminal states a worker can report', () => {
  it('a fatal failure is final, with the worker’s own code', async () => {
    await use.start({ config: quickRetries });
    const topics = { 'job.>': () => Promise.reject(new FatalError('broken for good', { code: 'no_such_model' })) };
    await use.worker({ id: 'w1', topics });

    const id = await use.submit();

    await use.until(id, 'FAILED', { attempts: 1, error_code: 'no_such_model', error_message: 'broken for good' });
    expect(await use.deadLetter(id)).toMatchObject({ reason_code: 'no_such_model', reason: 'broken for good' });
  });

  it.each([
    ['UNKNOWN', 'FAILED', 'worker_failed'],
    ['DENIED', 'FAILED', 'worker_denied'],
    ['TIMEOUT', 'TIMEOUT', 'timeout'],
  ] as const)('%s is recorded as %s with code %s, and leaves a dead letter', async (status, state, code) => {
    await use.start();
    await use.rawAnswering(status);

    const id = await use.submit();

    await use.until(id, state, { error_code: code });
    expect(await use.deadLetter(id)).toMatchObject({ reason_code: code, last_state: 'RUNNING' });
  });

  it('CANCELLED by the worker itself cancels the job, with a dead letter', async () => {
    await use.start();
    await use.rawAnswering('CANCELLED', { error_message: 'pulled the plug' });

    const id = await use.submit();

    await use.until(id, 'CANCELLED', { error_code: 'cancelled', error_message: 'pulled the plug' });
    expect(await use.deadLetter(id)).toMatchObject({ reason_code: 'cancelled', status: 'JOB_STATUS_CANCELLED' });
  });
});

describe('an ignored result', () => {
  it.each([
    ['of an earlier dispatch', { dispatch: { dispatch_id: 'old' } }, 'stale dispatch'],
    ['of an earlier attempt', { dispatch: { attempt: 7 } }, 'stale dispatch'],
    ['of a dispatch to another worker', { dispatch: { assigned_worker_id: 'w2' } }, 'stale dispatch'],
    ['for another tenant', { identity: { tenant_id: 'globex' } }, 'identity of another tenant'],
    ['one that names another worker', { worker_id: 'w2' }, 'not the worker that holds it'],
  ])('is %s', async (_, over, why) => {
    const { events } = await use.start();
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    const request = await worker.dispatched(id);

    await worker.answer(request, 'SUCCEEDED', over);

    await eventually(() => expect(ignored(events, id)).toEqual([why]));
    await use.until(id, 'RUNNING', { attempts: 1 });
    await worker.answer(request);
    await use.until(id, 'SUCCEEDED');
  });

  it('comes from a sender that only claims to be the worker', async () => {
    const { events } = await use.start();
    const worker = await use.rawWorker({ id: 'w1' });
    const liar = await use.rawWorker({ id: 'w1', sender: 'liar', silent: true });
    const id = await use.submit();
    const request = await worker.dispatched(id);

    await liar.answer(request, 'FAILED_FATAL');

    await eventually(() => expect(ignored(events, id)).toEqual(['not the worker that holds it']));
    await worker.answer(request);
    await use.until(id, 'SUCCEEDED');
  });

  it('is for an unknown job', async () => {
    const { events, defects } = await use.start();
    const worker = await use.rawWorker({ id: 'w1' });
    const packet = jobResultPacket(
      { trace_id: '', sender_id: 'w1', nowUs: 1 },
      { job_id: 'unknown', worker_id: 'w1', status: JobStatus.JOB_STATUS_SUCCEEDED },
    );

    await worker.raw(jobResult.name, encodePacket(packet));

    await eventually(() => expect(ignored(events, 'unknown')).toEqual(['unknown job']));
    expect(defects).toEqual([]);
  });

  it('is a duplicate: the job ends once and its slot is released once', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    const request = await worker.dispatched(id);

    await Promise.all([1, 2, 3, 4].map(() => worker.answer(request)));
    await use.until(id, 'SUCCEEDED');
    await worker.answer(request, 'FAILED_FATAL');

    const next = await use.submit();
    await worker.dispatched(next);
    expect(await use.path(id)).toEqual(['PENDING', 'DISPATCHED', 'RUNNING', 'SUCCEEDED']);
    expect(await use.store.workers.inFlight('w1')).toEqual([next]);
  });
});

describe('an older worker', () => {
  it('that echoes no dispatch id is identified by its worker id, and its result is accepted', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1', echo: false });
    const id = await use.submit();

    await worker.answer(await worker.dispatched(id));

    await use.until(id, 'SUCCEEDED');
  });
});

describe('invalid packets', () => {
  it('are counted, reported on sys.alert and dropped, and later packets are processed', async () => {
    const { metrics } = await use.start();
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    const request = await worker.dispatched(id);
    const head = { trace_id: '', sender_id: 'w1', nowUs: 1 };

    await worker.raw(jobResult.name, encodePacket(jobResultPacket(head, { job_id: id })));
    await worker.raw(jobResult.name, new TextEncoder().encode('\u0001 junk'));
    worker.connection.publish(subjects.heartbeat.name, new Uint8Array([255, 255]));
    await worker.answer(request);

    await use.until(id, 'SUCCEEDED');
    const alerts = () => use.bodies('alert', alert.name).map(({ details }) => details['subject']);
    await eventually(() => expect(alerts()).toEqual(expect.arrayContaining([jobResult.name, subjects.heartbeat.name])));
    const counted = (await metrics()).split('\n').filter((line) => /^\w+rejections_total\{/.test(line));
    expect(counted.join('\n')).toMatch(/reason="ERROR_CODE_MALFORMED_PACKET".* 2/);
  });
});
