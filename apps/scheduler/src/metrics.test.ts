import { subjects } from '@svc/contract';
import { expireApproval, repairOpenJobs } from '@svc/dispatch';
import { keys } from '@svc/store';
import { eventually } from '@svc/testing';
import type { Scheduler } from './scheduler.testing';
import { ruled, useScheduler } from './use-scheduler.testing';

const use = useScheduler();
/** Longer than the period in which the reconciler skips a recently updated job. */
const restedMs = 20_000;
const dayMs = 24 * 3_600_000;

/** The value of a series; undefined when it does not exist. */
async function value({ metrics }: Pick<Scheduler, 'metrics'>, name: string, ...labels: string[]) {
  const lines = (await metrics()).split('\n').filter((line) => line.startsWith(`${name}{`));
  const line = lines.find((one) => labels.every((label) => one.includes(label)));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}

describe('metrics of queue entries', () => {
  it('have the waiting time of entries, and no active handler once all are done', async () => {
    const scheduler = await use.start();
    await use.rawAnswering('SUCCEEDED');
    await use.until(await use.submit(), 'SUCCEEDED');

    expect(await value(scheduler, 'svc_queue_wait_seconds_count', 'queue="jobs"')).toBe(1);
    await eventually(async () => expect(await value(scheduler, 'svc_scheduler_inflight_handlers')).toBe(0));
  });
});

describe('metrics of approvals', () => {
  it('count an expired approval once', async () => {
    const scheduler = await use.start({ policy: ruled('require_approval'), withoutLoops: true });
    const id = await use.submit();

    await expireApproval(scheduler.later(2 * dayMs), id);
    await expireApproval(scheduler.later(2 * dayMs), id);

    expect(await value(scheduler, 'svc_approval_expired_total')).toBe(1);
  });

  it('count a dead letter whose event cannot be published', async () => {
    const scheduler = await use.start({ policy: ruled('require_approval'), withoutLoops: true });
    const { bus } = scheduler.ctx;
    const id = await use.submit();
    const publishDurable: typeof bus.publishDurable = (subject, ...rest) =>
      subject === subjects.jobDlq.name ? Promise.reject(new Error('no bus')) : bus.publishDurable(subject, ...rest);

    await expireApproval({ ...scheduler.later(2 * dayMs), bus: { ...bus, publishDurable } }, id);

    expect(await value(scheduler, 'svc_scheduler_dlq_emit_failures_total', 'topic="other"')).toBe(1);
  });
});

describe('metrics of the reconciler', () => {
  it('have the duration of a cycle', async () => {
    const scheduler = await use.start();

    await eventually(async () =>
      expect(await value(scheduler, 'svc_scheduler_reconciler_cycle_seconds_count')).toBeGreaterThan(0),
    );
  });

  it('show waiting jobs by reason until they no longer wait', async () => {
    const scheduler = await use.start({ withoutLoops: true });
    const waiting = () => value(scheduler, 'svc_scheduler_pending_jobs', 'topic="other"', 'reason="no_workers"');
    const [first, second] = [await use.submit(), await use.submit()];
    for (const id of [first, second]) await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });

    await repairOpenJobs(scheduler.later(restedMs));
    expect(await waiting()).toBe(2);

    await use.cancel(first);
    await repairOpenJobs(scheduler.later(restedMs));
    expect(await waiting()).toBe(1);
  });

  it('show jobs past their deadline, and count repaired jobs instead of showing them', async () => {
    const scheduler = await use.start({ policy: ruled('require_approval'), withoutLoops: true });
    const stale = () => value(scheduler, 'svc_scheduler_stale_jobs', 'state="APPROVAL_REQUIRED"');
    const id = await use.submit();
    await use.redis.hset(keys.job(id), 'deadline_ms', String(Date.now() + 1_000));

    await repairOpenJobs(scheduler.later(restedMs));
    expect(await stale()).toBe(1);
    expect(await value(scheduler, 'svc_scheduler_reconciler_repairs_total', 'kind="deadline"')).toBe(1);

    await use.until(id, 'TIMEOUT');
    await repairOpenJobs(scheduler.later(restedMs));
    expect(await stale()).toBeUndefined();
  });
});

describe('metrics of dispatch', () => {
  it('count waiting jobs that were dispatched to a new worker', async () => {
    const scheduler = await use.start({ withoutLoops: true });
    const id = await use.submit();
    await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });

    await use.rawAnswering('SUCCEEDED');

    await use.until(id, 'SUCCEEDED');
    await eventually(async () =>
      expect(await value(scheduler, 'svc_scheduler_dispatch_flush_on_worker_online_total', 'pool="main"')).toBe(1),
    );
  });
});

describe('metrics of output policy', () => {
  it('count decisions and quarantines, with their duration', async () => {
    const policy = `
version: '1'
default_decision: allow
output_policy: { enabled: true }
output_rules:
  - { id: big, severity: high, match: { output_size_gt: 10 }, decision: quarantine, reason: because }
`;
    const scheduler = await use.start({ policy });
    await use.worker({ id: 'w1', topics: { 'job.>': () => new TextEncoder().encode('more than ten bytes') } });

    await use.until(await use.submit(), 'OUTPUT_QUARANTINED');

    for (const name of ['evaluations_total', 'denials_total', 'eval_duration_seconds_count']) {
      expect([name, await value(scheduler, `svc_scheduler_output_${name}`, 'topic="other"')]).toEqual([name, 1]);
    }
  });
});
