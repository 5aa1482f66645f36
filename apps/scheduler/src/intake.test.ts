import { encodePacket, jobRequestPacket, subjects, type JobRequestDraft } from '@svc/contract';
import { eventually } from '@svc/testing';
import { ruled, useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const { jobSubmit } = subjects;

/** Submits a job directly on the bus, bypassing the gateway. */
async function say(draft: JobRequestDraft, sender = 'sender'): Promise<void> {
  const request = { topic: 'job.work', tenant_id: 'acme', principal_id: 'ann', ...draft };
  const packet = jobRequestPacket({ trace_id: 't1', sender_id: sender, nowUs: 1 }, request);
  await use.bus.publishDurableBytes(jobSubmit.name, encodePacket(packet));
}
const known = (id: string) => eventually(() => use.job(id));

describe('a job submitted on the bus', () => {
  it('runs with its requested fields, like a job submitted through the gateway', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1', answers: () => ['SUCCEEDED'] });

    await say({ job_id: 'j1', priority: 3, labels: { color: 'red' }, budget: { deadline_ms: 60_000 } });

    await eventually(() => use.until('j1', 'SUCCEEDED'));
    const job = await use.job('j1');
    expect(job).toMatchObject({ tenant: 'acme', trace_id: 't1', submitter: 'bus:sender|principal:ann' });
    expect(job.request).toMatchObject({ priority: 'critical', principal_id: 'ann' });
    expect(job.deadline_ms).toBeGreaterThan(job.created_at / 1_000);
    expect(worker.received[0]).toMatchObject({ job_id: 'j1', priority: 3, labels: { color: 'red' } });
  });

  it('cannot return the result of another job whose id begins with its own', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1', max: 5 });
    await Promise.all([say({ job_id: 'run' }), say({ job_id: 'run:step@1', tenant_id: 'globex' })]);
    const [request] = await Promise.all([worker.dispatched('run'), worker.dispatched('run:step@1')]);
    await use.redis.set('res:run:step@1', 'private');

    await worker.answer(request, 'SUCCEEDED', { result_ptr: 'redis://res:run:step@1' });

    await use.until('run', 'FAILED', { error_code: 'result_ptr_not_own' });
  });

  it('belongs to no workflow, even if its fields, env and labels name one', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1', answers: () => ['SUCCEEDED'] });
    const names = { workflow_id: 'deploy', run_id: 'r1', step_id: 's1' };

    await say({ job_id: 'j1', workflow_id: 'deploy', env: names, labels: names });

    await eventually(() => use.until('j1', 'SUCCEEDED'));
    const { request } = await use.job('j1');
    expect([request.workflow_id, request.run_id, request.step_id]).toEqual([undefined, undefined, undefined]);
    expect(worker.received[0]?.workflow_id).toBe('');
    expect(worker.received[0]?.env).not.toMatchObject({ workflow_id: 'deploy' });
  });

  it('is rejected if it names the memory of another tenant', async () => {
    const { events } = await use.start();
    await use.submit({ memory_id: 'kb:payroll' }, 'globex');

    await say({ job_id: 'j1', memory_id: 'mem:kb:payroll' });

    await eventually(() =>
      expect(events).toContainEqual(['refusedSubmission', 'j1', 'memory_id names the memory of another tenant']),
    );
    expect(await use.store.jobs.load('j1')).toBeUndefined();
  });

  it('is subject to the same policy: a denial ends it', async () => {
    await use.start({ policy: ruled('deny') });
    const worker = await use.rawWorker({ id: 'w1' });

    await say({ job_id: 'j1' });

    await known('j1');
    await use.until('j1', 'DENIED', { error_code: 'safety_denied' });
    expect(worker.received).toEqual([]);
  });

  it('waits for approval when policy requires it, even if its labels claim one', async () => {
    await use.start({ policy: ruled('require_approval') });
    const worker = await use.rawWorker({ id: 'w1' });

    await say({ job_id: 'j1', labels: { approval_granted: 'true', safety_bypassed: 'true' } });

    await known('j1');
    const job = await use.until('j1', 'APPROVAL_REQUIRED');
    expect(job.request.labels).toEqual({ _source: 'bus' });
    expect(worker.received).toEqual([]);
  });

  it('is accepted once, even if other senders submit it again', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1', max: 5 });
    await Promise.all([say({ job_id: 'j1' }), say({ job_id: 'j1' }), say({ job_id: 'j1' })]);
    const request = await worker.dispatched('j1');

    await say({ job_id: 'j1', topic: 'job.other', tenant_id: 'other' }, 'another');
    await say({ job_id: 'j2' });

    await worker.dispatched('j2');
    await worker.answer(request);
    await use.until('j1', 'SUCCEEDED', { tenant: 'acme', topic: 'job.work', attempts: 1 });
    expect(worker.order()).toEqual(['j1', 'j2']);
  });

  it('gets the configured default priority when it has none', async () => {
    await use.orgConfig('acme', { resources: { default_priority: 'batch' } });
    await use.start();

    await say({ job_id: 'j1', priority: 0 });
    await say({ job_id: 'j2', priority: 1 });

    await eventually(async () => expect((await use.job('j1')).request.priority).toBe('batch'));
    await eventually(async () => expect((await use.job('j2')).request.priority).toBe('interactive'));
  });

  it('ends FAILED when its topic is unknown', async () => {
    const pools = {
      topics: { 'job.work': ['main'] },
      pools: { main: { name: 'main', requires: [], status: 'active' as const, description: '' } },
    };
    await use.start({ pools });

    await say({ job_id: 'j1', topic: 'job.nonsense' });

    await known('j1');
    await use.until('j1', 'FAILED', { error_code: 'unknown_topic' });
    expect(await use.deadLetter('j1')).toMatchObject({ reason_code: 'unknown_topic' });
  });

  it('is rejected when its topic is longer than those of the gateway may be', async () => {
    await use.start();

    await say({ job_id: 'j1', topic: `job.${'x'.repeat(300)}` });
    await say({ job_id: 'j2' });

    await known('j2');
    expect(await use.store.jobs.load('j1')).toBeUndefined();
  });

  it('is rejected when its tenant fields disagree', async () => {
    await use.start();

    await say({ job_id: 'j1', env: { tenant_id: 'other' } });
    await say({ job_id: 'j2' });

    await known('j2');
    expect(await use.store.jobs.load('j1')).toBeUndefined();
    await eventually(() => expect(use.bodies('alert', subjects.alert.name)).toHaveLength(1));
  });
});

describe('the input of a job submitted on the bus', () => {
  const secret = `
input_rules:
  - {id: no-oil, match: {keywords: ['whale oil']}, decision: deny}
rules:
  - {id: rest, match: {}, decision: allow}
`;
  const put = (id: string, prompt: string) => use.store.data.writeContext(id, JSON.stringify({ prompt }));

  it('is read by policy from the pointer in the packet, and reaches the worker unchanged', async () => {
    await use.start({ policy: secret });
    const worker = await use.rawAnswering('SUCCEEDED');
    await put('shared', 'barrels of whale oil');
    await put('fine', 'lamps');

    await say({ job_id: 'j1', context_ptr: 'redis://ctx:shared' });
    await say({ job_id: 'j2', context_ptr: 'redis://ctx:fine' });

    await eventually(() => use.until('j1', 'DENIED'));
    await eventually(() => use.until('j2', 'SUCCEEDED'));
    expect(worker.received).toMatchObject([{ job_id: 'j2', context_ptr: 'redis://ctx:fine' }]);
  });

  it('may be the result of another job, unless it was withheld or belongs to another tenant', async () => {
    await use.start();
    await use.rawAnswering('SUCCEEDED');
    const mine = await use.submit();
    const theirs = await use.submit({}, 'bolt');
    for (const id of [mine, theirs]) await use.until(id, 'SUCCEEDED');
    const withheld = await use.submit();
    await use.until(withheld, 'SUCCEEDED');
    await use.store.jobs.move('*', withheld, 'quarantine');

    await say({ job_id: 'j1', context_ptr: `redis://res:${theirs}` });
    await say({ job_id: 'j2', context_ptr: `redis://res:${withheld}` });
    await say({ job_id: 'j3', context_ptr: 'redis://session:user:1' });
    await say({ job_id: 'j6', context_ptr: `redis://res:${withheld}:part` });
    await say({ job_id: 'j7', context_ptr: `redis://res:${theirs}:part` });
    await say({ job_id: 'j4', context_ptr: `redis://res:${mine}` });
    await say({ job_id: 'j5', context_ptr: 's3://elsewhere/in.json' });

    for (const id of ['j4', 'j5']) await eventually(() => use.until(id, 'SUCCEEDED'));
    for (const id of ['j1', 'j2', 'j3', 'j6', 'j7']) expect(await use.store.jobs.load(id)).toBeUndefined();
  });
});

describe('two schedulers', () => {
  it('share the work and dispatch no job twice', async () => {
    const [one, two] = [await use.start(), await use.start()];
    const runs: string[] = [];
    let running = 0;
    let most = 0;
    const topics = {
      'job.>': async ({ jobId }: { jobId: string }) => {
        runs.push(jobId);
        most = Math.max(most, (running += 1));
        await new Promise((resume) => setTimeout(resume, 2));
        running -= 1;
      },
    };
    await use.worker({ id: 'w1', concurrency: 3, topics });
    await use.worker({ id: 'w2', concurrency: 3, topics });

    const ids = await Promise.all(Array.from({ length: 120 }, (_, i) => use.submit({}, i % 2 ? 'acme' : 'bolt')));
    for (const id of ids) await use.until(id, 'SUCCEEDED', { attempts: 1 });

    expect([...runs].sort()).toEqual([...ids].sort());
    expect(most).toBeLessThanOrEqual(6);
    for (const { events, defects } of [one, two]) {
      expect(defects).toEqual([]);
      expect(events.filter(([name]) => name === 'received').length).toBeGreaterThan(0);
    }
    for (const id of ['w1', 'w2']) expect(await use.store.workers.inFlight(id)).toEqual([]);
  });

  it('keep processing jobs when one of them stops', async () => {
    await use.start();
    const other = await use.start();
    const worker = await use.rawWorker({ id: 'w1', max: 20 });
    const first = await use.submit();
    const held = await worker.dispatched(first);

    await other.stop();
    await worker.answer(held);
    const second = await use.submit();

    await worker.answer(await worker.dispatched(second));
    await use.until(first, 'SUCCEEDED');
    await use.until(second, 'SUCCEEDED');
  });

  it('release the job of a silent worker once, not once per scheduler', async () => {
    // The retry delay lets both schedulers detect the silence; otherwise one could dispatch to the silent worker again.
    const plan = { env: { workerHeartbeatTtlMs: 500 }, config: { retry: { initial_backoff: '2s' } } };
    await use.start(plan);
    await use.start(plan);
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    await worker.dispatched(id);

    worker.mute();
    await use.until(id, 'RETRYING');
    const next = await use.rawWorker({ id: 'w2', answers: () => ['SUCCEEDED'] });

    await use.until(id, 'SUCCEEDED', { attempts: 2, retry_count: 1 });
    expect(next.order()).toEqual([id]);
  });
});
