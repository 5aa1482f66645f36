import { bootIdLabel, dispatchEchoLabel } from '@svc/contract';
import { eventually } from '@svc/testing';
import type { RawWorkerPlan } from './raw-worker.testing';
import type { Scheduler } from './scheduler.testing';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const announced = { [bootIdLabel]: 'boot-1', [dispatchEchoLabel]: 'true' };
/** Publishes under the id of worker w1, without a dispatch id because it cannot read dispatches. */
const forger = (plan: Partial<RawWorkerPlan> = {}) => use.rawWorker({ id: 'w1', echo: false, silent: true, ...plan });
const refusals = ({ events }: Pick<Scheduler, 'events'>, id: string) =>
  events.flatMap(([name, kind, reason, worker, job]) =>
    name === 'reportWithoutDispatch' && job === id ? [[kind, reason, worker]] : [],
  );
const refused = (scheduler: Scheduler, id: string, ...expected: [kind: string, reason: string][]) =>
  eventually(() => expect(refusals(scheduler, id)).toEqual(expected.map(([kind, reason]) => [kind, reason, 'w1'])));
/** Publishes one result of the worker that names its dispatch. */
async function completeOne(worker: Awaited<ReturnType<typeof use.rawWorker>>): Promise<void> {
  const id = await use.submit();
  await worker.answer(await worker.dispatched(id));
  await use.until(id, 'SUCCEEDED');
}

describe('a result without a dispatch id', () => {
  it('is ignored for a worker that announces dispatch ids, and the genuine result is accepted', async () => {
    const scheduler = await use.start();
    const worker = await use.rawWorker({ id: 'w1', labels: announced });
    const forged = await forger();
    const id = await use.submit();
    const request = await worker.dispatched(id);

    await forged.answer(request, 'FAILED_FATAL');

    await refused(scheduler, id, ['result', 'worker_echoes']);
    await use.until(id, 'RUNNING');
    expect(await scheduler.metrics()).toMatch(
      /reports_without_dispatch_total\{(?=.*kind="result")(?=.*reason="worker_echoes").*\} 1/,
    );
    await worker.answer(request);
    await use.until(id, 'SUCCEEDED');
  });

  it('is ignored even if it names an attempt, since attempts can be guessed', async () => {
    const scheduler = await use.start();
    const worker = await use.rawWorker({ id: 'w1', labels: announced });
    const forged = await forger();
    const id = await use.submit();
    const request = await worker.dispatched(id);

    await forged.answer(request, 'FAILED_FATAL', { dispatch: { attempt: 1, assigned_worker_id: 'w1' } });

    await refused(scheduler, id, ['result', 'worker_echoes']);
    await worker.answer(request);
    await use.until(id, 'SUCCEEDED');
  });

  it('is ignored after any result of the worker named its dispatch, by every scheduler and after restarts', async () => {
    // Used for submissions; runs longer than the other two.
    await use.start({ idle: true });
    const first = await use.start();
    const worker = await use.rawWorker({ id: 'w1' });
    const forged = await forger();
    await completeOne(worker);
    await first.stop();
    const second = await use.start();
    const id = await use.submit();
    const request = await worker.dispatched(id);

    await forged.answer(request, 'FAILED_FATAL');

    await refused(second, id, ['result', 'worker_echoes']);
    await worker.answer(request);
    await use.until(id, 'SUCCEEDED');
  });

  it('is ignored even if forged heartbeats claim a process without dispatch ids', async () => {
    const scheduler = await use.start();
    const worker = await use.rawWorker({ id: 'w1', labels: announced });
    await eventually(() => expect(scheduler.ctx.registry.isEchoKnown('w1')).toBe(true));
    const forged = await forger({ counts: () => 1 });
    const id = await use.submit();
    const request = await worker.dispatched(id);
    // From here only forged heartbeats arrive; the genuine process has not expired yet.
    worker.mute();
    await worker.connection.flush();
    forged.shake();
    forged.beat();
    await eventually(() => expect(scheduler.ctx.registry.processes('w1')).toContain(''));
    // Heartbeats are processed in order: once this one is applied, so are the earlier ones.
    await use.rawWorker({ id: 'w2', labels: announced });
    await eventually(() => expect(scheduler.ctx.registry.isEchoKnown('w2')).toBe(true));

    await forged.answer(request, 'FAILED_FATAL');

    await refused(scheduler, id, ['result', 'worker_echoes']);
    await worker.answer(request);
    await use.until(id, 'SUCCEEDED');
  });

  it('is accepted for a worker that never named one', async () => {
    const scheduler = await use.start();
    const worker = await use.rawWorker({ id: 'w1', echo: false });

    for (const id of [await use.submit(), await use.submit()]) {
      await worker.answer(await worker.dispatched(id));
      await use.until(id, 'SUCCEEDED');
      expect(refusals(scheduler, id)).toEqual([]);
    }
  });

  it('is accepted for an older worker under the same id after its predecessor expired', async () => {
    const { ctx } = await use.start({ env: { workerHeartbeatTtlMs: 500 } });
    const before = await use.rawWorker({ id: 'w1', labels: announced });
    await completeOne(before);
    before.mute();
    const after = await use.rawWorker({ id: 'w1', echo: false });
    await eventually(async () => expect(await use.store.workers.echoesDispatch('w1')).toBe(false));
    // The scheduler's cached worker record is refreshed within a third of the expiry time.
    await eventually(() => expect(ctx.registry.isEchoKnown('w1')).toBe(false));

    const id = await use.submit();
    await after.answer(await after.dispatched(id));

    await use.until(id, 'SUCCEEDED');
  });

  it('is ignored for every worker when dispatch ids are required', async () => {
    const scheduler = await use.start({ env: { dispatchIdRequired: true } });
    const worker = await use.rawWorker({ id: 'w1', echo: false });
    const id = await use.submit();
    const request = await worker.dispatched(id);

    worker.progress(id, 60);
    await worker.answer(request);

    await eventually(() => expect(refusals(scheduler, id)).toHaveLength(2));
    expect(refusals(scheduler, id)).toEqual(
      expect.arrayContaining([
        ['result', 'required_by_setting', 'w1'],
        ['progress', 'required_by_setting', 'w1'],
      ]),
    );
    await use.until(id, 'RUNNING');
    await worker.answer(request, 'SUCCEEDED', { dispatch: request.dispatch });
    await use.until(id, 'SUCCEEDED');
  });
});

describe('progress without a dispatch id', () => {
  it('is ignored for a worker that announces dispatch ids', async () => {
    const scheduler = await use.start();
    const worker = await use.rawWorker({ id: 'w1', labels: announced });
    const forged = await forger();
    const id = await use.submit();
    const { dispatch } = await worker.dispatched(id);

    forged.progress(id, 99);

    await refused(scheduler, id, ['progress', 'worker_echoes']);
    worker.progress(id, 20, { dispatch });
    await use.until(id, 'RUNNING', { progress_percent: 20 });
  });

  it('is ignored after progress of the worker named its dispatch', async () => {
    const scheduler = await use.start();
    const worker = await use.rawWorker({ id: 'w1' });
    const forged = await forger();
    const id = await use.submit();
    const request = await worker.dispatched(id);
    worker.progress(id, 20, { dispatch: request.dispatch });
    await use.until(id, 'RUNNING', { progress_percent: 20 });
    await eventually(() => expect(scheduler.ctx.registry.isEchoKnown('w1')).toBe(true));

    forged.progress(id, 99);
    await forged.answer(request, 'FAILED_FATAL');

    await eventually(() => expect(refusals(scheduler, id)).toHaveLength(2));
    await use.until(id, 'RUNNING', { progress_percent: 20 });
  });

  it('is accepted for a worker that names it only in results', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1' });
    await completeOne(worker);
    const id = await use.submit();
    await worker.dispatched(id);

    worker.progress(id, 40);

    await use.until(id, 'RUNNING', { progress_percent: 40 });
  });

  it('is accepted for a worker that never named one', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1', echo: false });
    const id = await use.submit();
    await worker.dispatched(id);

    worker.progress(id, 40);

    await use.until(id, 'RUNNING', { progress_percent: 40 });
  });
});
