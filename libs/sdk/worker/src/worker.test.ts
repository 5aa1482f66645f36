import { jobStatusName, wire } from '@svc/contract';
import { eventually, useServers } from '@svc/testing';
import {
  createWorker,
  DeniedError,
  FatalError,
  JobAborted,
  RetryableError,
  sdkVersion,
  type Job,
  type Worker,
  type WorkerOptions,
} from './index';
import { openScheduler } from './scheduler.fixture';

const servers = useServers();
const workers: Worker[] = [];
let scheduler: Awaited<ReturnType<typeof openScheduler>>;

beforeEach(async () => {
  scheduler = await openScheduler(servers.natsUrl, servers.redisUrl, eventually);
});

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  await scheduler.close();
});

async function started(handler: (job: Job) => unknown, more: Partial<WorkerOptions> = {}): Promise<Worker> {
  const worker = createWorker({
    id: 'w-1',
    topics: { 'job.demo.echo': handler },
    natsUrl: servers.natsUrl,
    redisUrl: servers.redisUrl,
    signals: [],
    graceMs: 300,
    onError: () => undefined,
    ...more,
  });
  workers.push(worker);
  await worker.start();
  return worker;
}

const gate = () => {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { open, passed };
};

const aborted = (signal: AbortSignal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }));

const own = 'dur_w-1__worker_w-1_jobs';

describe('a worker', () => {
  it('announces itself before it receives jobs', async () => {
    await started(() => 'x', {
      pool: 'gpu-pool',
      concurrency: 4,
      capabilities: ['gpu'],
      labels: { zone: 'a' },
      authToken: 'credential',
    });

    const [heartbeat] = await eventually(
      () => (expect(scheduler.of('heartbeat')).not.toEqual([]), scheduler.of('heartbeat')),
    );
    expect(heartbeat).toMatchObject({
      worker_id: 'w-1',
      pool: 'gpu-pool',
      max_parallel_jobs: 4,
      active_jobs: 0,
      capabilities: ['gpu'],
      labels: { zone: 'a' },
      auth_token: 'credential',
    });
    expect(scheduler.of('handshake')[0]).toMatchObject({
      component_id: 'w-1',
      role: 3,
      supported_versions: [1],
      ready_topics: ['job.demo.echo'],
      sdk_version: sdkVersion,
      capabilities: { progress: true, cancel: true },
    });
  });

  it('reports costs, also of failed jobs, and none without a report', async () => {
    await started((job) => {
      if (job.jobId === 'j1') return 'free';
      job.cost(0.25);
      job.cost(0.5);
      expect(() => job.cost(-1)).toThrow(RangeError);
      if (job.jobId === 'j3') throw new Error('no');
      return 'done';
    });

    for (const job_id of ['j1', 'j2', 'j3']) await scheduler.dispatch({ job_id });

    const results = await eventually(() => {
      const results = scheduler.of('job_result');
      expect(results).toHaveLength(3);
      return new Map(results.map(({ job_id, cost_usd }) => [job_id, cost_usd]));
    });
    expect(Object.fromEntries(results)).toEqual({ j1: undefined, j2: 0.75, j3: 0.75 });
  });

  it('runs a job with its input, and acknowledges after the result is stored', async () => {
    const seen: Job[] = [];
    await started(async (job) => {
      seen.push(job);
      job.progress(40, 'half');
      const pointer = await job.saveArtifact(Buffer.from('file'), { contentType: 'text/plain', retention: 'short' });
      return { echo: job.prompt, pointer };
    });
    await scheduler.redis.set('ctx:j', JSON.stringify({ prompt: 'hello', context: { n: 1 } }));

    const env = {
      SVC_DISPATCH_ID: 'd-7',
      SVC_ATTEMPT: '3',
      SVC_POLICY_CONSTRAINTS: '{"toolchain":{"allowedTools":["ls"]}}',
    };
    await scheduler.dispatch({ job_id: 'j', context_ptr: 'redis://ctx:j', env, labels: { a: 'b' } }, { to: 'w-1' });

    const [result] = await scheduler.results('j');
    const [artifact = ''] = result?.artifact_ptrs ?? [];
    expect(result).toMatchObject({
      status: 5,
      worker_id: 'w-1',
      result_ptr: 'redis://res:j',
      dispatch: { dispatch_id: 'd-7', attempt: 3 },
    });
    expect(JSON.parse((await scheduler.redis.get('res:j')) ?? '')).toEqual({ echo: 'hello', pointer: artifact });
    expect(await scheduler.redis.get(artifact.slice('redis://'.length))).toBe('file');
    const metadata = (await scheduler.redis.get(artifact.replace('redis://art:', 'art:meta:'))) ?? '';
    expect(JSON.parse(metadata)).toMatchObject({ labels: { job_id: 'j', tenant_id: 'acme' } });
    expect(await scheduler.redis.ttl('res:j')).toBeGreaterThan(86_000);
    expect(seen[0]).toMatchObject({
      jobId: 'j',
      tenant: 'acme',
      attempt: 3,
      dispatchId: 'd-7',
      context: { n: 1 },
      labels: { a: 'b' },
      constraints: { toolchain: { allowedTools: ['ls'] } },
    });
    expect(scheduler.of('job_progress')).toMatchObject([{ job_id: 'j', percent: 40, message: 'half', status: 4 }]);
    expect(scheduler.received.find(({ packet }) => packet.kind === 'job_result')).toMatchObject({
      traceparent: 'tp-1',
      packet: { trace_id: 'trace-1', sender_id: 'w-1' },
    });
    await eventually(async () => (await scheduler.open(own)) === 0);
  });

  it('shares topics with its group, each job once', async () => {
    const ran: string[] = [];
    const note = (job: Job) => void ran.push(job.jobId);
    await started(note);
    await started(note, { id: 'w-2' });

    const ids = Array.from({ length: 20 }, (_, i) => `j-${i}`);
    for (const job_id of ids) await scheduler.dispatch({ job_id });

    for (const id of ids) await scheduler.results(id);
    expect(ran.sort()).toEqual([...ids].sort());
  });

  it('serves topics by pattern', async () => {
    const ran: string[] = [];
    await started(() => undefined, { topics: { 'job.media.*': (job) => void ran.push(job.topic) } });

    await scheduler.dispatch({ job_id: 'a', topic: 'job.media.cut' });
    await scheduler.dispatch({ job_id: 'b', topic: 'job.media.mix' }, { to: 'w-1' });

    await Promise.all([scheduler.results('a'), scheduler.results('b')]);
    expect(ran.sort()).toEqual(['job.media.cut', 'job.media.mix']);
  });

  it('limits concurrent jobs, and queues the others', async () => {
    const door = gate();
    let most = 0;
    let running = 0;
    await started(
      async () => {
        most = Math.max(most, (running += 1));
        await door.passed;
        running -= 1;
      },
      { concurrency: 2 },
    );

    for (const job_id of ['a', 'b', 'c', 'd']) await scheduler.dispatch({ job_id }, { to: 'w-1' });
    await eventually(() => expect(running).toBe(2));
    door.open();

    for (const id of ['a', 'b', 'c', 'd']) await scheduler.results(id);
    expect(most).toBe(2);
  });

  it.each([
    ['FAILED', 0, '', new Error('plain')],
    ['FAILED_RETRYABLE', 4_711, 'busy', new RetryableError('later', { code: 'busy', errorCode: 4_711 })],
    ['FAILED_FATAL', 203, 'bad_input', new FatalError('never', { code: 'bad_input', errorCode: 203 })],
    ['DENIED', 202, '', new DeniedError('not this')],
  ])('%s %s: the thrown error determines the status', async (status, error_code_enum, error_code, error) => {
    await started(() => Promise.reject(error));

    await scheduler.dispatch({ job_id: 'j' }, { to: 'w-1' });

    const [result] = await scheduler.results('j');
    expect(result && jobStatusName(result.status)).toBe(status);
    expect(result).toMatchObject({ error_code, error_code_enum, error_message: error.message, result_ptr: '' });
  });

  it('a missing context is fatal; an unserved topic is retryable', async () => {
    await started(() => 'x');

    await scheduler.dispatch({ job_id: 'gone', context_ptr: 'redis://ctx:gone' }, { to: 'w-1' });
    await scheduler.dispatch({ job_id: 'other', topic: 'job.other' }, { to: 'w-1' });

    expect((await scheduler.results('gone'))[0]).toMatchObject({ status: 11, error_code: 'context_missing' });
    expect((await scheduler.results('other'))[0]).toMatchObject({ status: 10, error_code: 'topic_not_served' });
  });

  it('an invalid packet is reported, and the next job runs', async () => {
    await started(() => 'x');

    const long = 'e'.repeat(100_000);
    const packet = { protocol_version: 9, sender_id: long, trace_id: long };
    scheduler.publish('worker.w-1.jobs', wire.BusPacket.encode(packet).finish());
    await scheduler.dispatch({ job_id: 'j' }, { to: 'w-1' });

    await scheduler.results('j');
    const shown = expect.stringMatching(/^e{511}…$/) as string;
    expect(scheduler.of('alert')).toMatchObject([
      { error_code_enum: 100, trace_id: shown, details: { subject: 'worker.w-1.jobs', sender_id: shown } },
    ]);
    await eventually(async () => (await scheduler.open(own)) === 0);
  });

  it('rejects an id that is not a subject token', () => {
    for (const id of ['a.b', 'a b', '*', '>', 'ä', '']) {
      const create = () => createWorker({ id, topics: { 'job.x': () => undefined } });
      expect(create).toThrow(`worker id "${id}" cannot be used`);
    }
  });
});

describe('stopping a job', () => {
  it('cancel: the handler is aborted, and the job ends CANCELLED', async () => {
    const reasons: unknown[] = [];
    const begun = gate();
    await started((job) => {
      begun.open();
      return aborted(job.signal).catch((reason: unknown) => reasons.push(reason));
    });
    await scheduler.dispatch({ job_id: 'j' }, { to: 'w-1' });
    await begun.passed;

    scheduler.cancel('another');
    scheduler.cancel('j');

    expect((await scheduler.results('j'))[0]).toMatchObject({ status: 7, error_message: 'no more', result_ptr: '' });
    expect(reasons).toEqual([new JobAborted('cancelled', 'no more')]);
    expect(await scheduler.redis.exists('res:j')).toBe(0);
  });

  it('a handler that ignores the abort is abandoned after the grace period', async () => {
    const begun = gate();
    await started(() => (begun.open(), new Promise(() => undefined)));
    await scheduler.dispatch({ job_id: 'j' }, { to: 'w-1' });
    await begun.passed;

    scheduler.cancel('j');

    expect((await scheduler.results('j'))[0]).toMatchObject({ status: 7 });
  });

  it('a cancel can extend the grace period', async () => {
    const begun = gate();
    let isDone = false;
    await started(async ({ signal }) => {
      begun.open();
      await aborted(signal).catch(() => undefined);
      // Longer than the worker's grace period.
      await new Promise((resolve) => setTimeout(resolve, 400));
      isDone = true;
    });
    await scheduler.dispatch({ job_id: 'j' }, { to: 'w-1' });
    await begun.passed;

    scheduler.cancel('j', 60);

    expect((await scheduler.results('j'))[0]).toMatchObject({ status: 7 });
    expect(isDone).toBe(true);
  });

  it('deadline: the job ends TIMEOUT, and a late one is not run', async () => {
    let ran = 0;
    await started((job) => ((ran += 1), aborted(job.signal)));
    const stale = { protocol_version: 1, created_at: { seconds: 1_000 } };
    const late = { job_id: 'late', topic: 'job.demo.echo', budget: { deadline_ms: 50 } };

    await scheduler.dispatch({ job_id: 'j', budget: { deadline_ms: 50 } }, { to: 'w-1' });
    scheduler.publish('worker.w-1.jobs', wire.BusPacket.encode({ ...stale, job_request: late }).finish());

    expect((await scheduler.results('j'))[0]).toMatchObject({ status: 9, error_code_enum: 200, error_code: 'timeout' });
    expect((await scheduler.results('late'))[0]).toMatchObject({ status: 9 });
    expect(ran).toBe(1);
  });
});

describe('the same job again', () => {
  it('a repeat of a finished dispatch republishes the stored result without a run', async () => {
    let ran = 0;
    await started(() => (ran += 1));
    await scheduler.dispatch({ job_id: 'j' }, { to: 'w-1' });
    const [first] = await scheduler.results('j');

    await scheduler.dispatch({ job_id: 'j' }, { to: 'w-1', again: '-replayed' });

    expect(await scheduler.results('j', 2)).toEqual([first, first]);
    expect(ran).toBe(1);
  });

  it('a repeat of a running dispatch is ignored, and both messages are acknowledged with the result', async () => {
    const door = gate();
    let ran = 0;
    await started(() => ((ran += 1), door.passed), { concurrency: 2 });
    await scheduler.dispatch({ job_id: 'j' }, { to: 'w-1' });
    await eventually(() => expect(ran).toBe(1));

    await scheduler.dispatch({ job_id: 'j' }, { to: 'w-1', again: '-replayed' });
    await eventually(async () => (await scheduler.manager.consumers.info('SVC_JOBS', own)).num_ack_pending === 2);
    door.open();

    await scheduler.results('j');
    await eventually(async () => (await scheduler.open(own)) === 0);
    expect([ran, scheduler.of('job_result')]).toMatchObject([1, [{ job_id: 'j' }]]);
  });

  it('another dispatch of the job is another run', async () => {
    const attempts: number[] = [];
    await started((job) => void attempts.push(job.attempt));

    await scheduler.dispatch({ job_id: 'j' }, { to: 'w-1' });
    await scheduler.results('j');
    await scheduler.dispatch({ job_id: 'j', env: { SVC_DISPATCH_ID: 'd-2', SVC_ATTEMPT: '2' } }, { to: 'w-1' });

    expect((await scheduler.results('j', 2)).map(({ dispatch }) => dispatch?.dispatch_id)).toEqual(['d-1', 'd-2']);
    expect(attempts).toEqual([1, 2]);
  });
});
