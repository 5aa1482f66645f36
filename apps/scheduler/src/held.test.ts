import { encodePacket, jobRequestPacket, subjects } from '@svc/contract';
import { expireApproval, repairOpenJobs } from '@svc/dispatch';
import { repairApproval } from '@svc/approvals';
import { keys, type ApprovalRecord } from '@svc/store';
import { ruled, useScheduler } from './use-scheduler.testing';
import { eventually, person } from '@svc/testing';

const use = useScheduler();
const day = 24 * 3_600_000;
const restedMs = 20_000;

const boss = person('boss');

const change = async (id: string, over: Partial<ApprovalRecord>) => {
  const { approval } = await use.job(id);
  await use.redis.hset(keys.job(id), 'approval', JSON.stringify({ ...approval, ...over }));
};

describe('an approved job that was not released', () => {
  it('runs after its repair, without a second approval', async () => {
    const { ctx } = await use.start({ policy: ruled('require_approval') });
    const worker = await use.rawWorker({ id: 'w1', answers: () => ['SUCCEEDED'] });
    const id = await use.submit();
    await change(id, { status: 'approved', decision: 'approve', resolved_by: 'ola', revision: 2 });

    await repairApproval({ ...ctx, onPublishFailed: () => undefined }, boss, id, { apply: true });

    const job = await use.until(id, 'SUCCEEDED');
    expect(worker.received[0]?.labels).toMatchObject({ approval_granted: 'true' });
    expect(job.approval).toMatchObject({ status: 'repaired', resolved_by: 'ola' });
    expect((await use.store.jobs.decisions(id, 10)).map(({ source }) => source)).toEqual(['gateway']);
  });
});

describe('an input document that changes', () => {
  const tamper = (id: string) => use.redis.set(keys.context(id), JSON.stringify({ prompt: 'pay everything' }));

  it('before the approval: the approval is rejected', async () => {
    await use.start({ policy: ruled('require_approval') });
    const id = await use.submit();
    await tamper(id);

    await expect(use.approve(id)).rejects.toThrow('request of this job changed');
    expect(await use.job(id)).toMatchObject({ state: 'APPROVAL_REQUIRED', approval: { status: 'pending' } });
  });

  it('after the approval, while the job waits for a worker: it is never dispatched', async () => {
    await use.start({ policy: ruled('require_approval') });
    const id = await use.submit();
    await use.approve(id);
    await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });
    await tamper(id);

    const worker = await use.rawWorker({ id: 'w1' });

    await use.until(id, 'FAILED', { error_code: 'input_changed' });
    expect(worker.received).toEqual([]);
  });

  it('and cannot be read: it cannot be approved', async () => {
    await use.start({ policy: ruled('require_approval') });
    const request = { job_id: 'j1', topic: 'job.work', tenant_id: 'acme', context_ptr: 's3://bucket/input' };
    const packet = jobRequestPacket({ trace_id: 't1', sender_id: 'sender', nowUs: 1 }, request);
    await use.bus.publishDurableBytes(subjects.jobSubmit.name, encodePacket(packet));
    await eventually(() => use.until('j1', 'APPROVAL_REQUIRED'));

    await expect(use.approve('j1')).rejects.toThrow('no approval can cover it');
  });
});

describe('the job of an approval step', () => {
  /** Held for a run that has not ended. */
  async function gate(): Promise<string> {
    await use.store.workflows.write({ tenant: 'acme', id: 'cargo', document: { id: 'cargo' }, by: 'ann' });
    const head = { id: 'r1', tenant: 'acme', workflow: { id: 'cargo', version: 1 }, header: {}, events: [] };
    await use.store.runs.create({ ...head, limits: { tenant: 0, all: 0 }, start: { kind: 'start' } });
    const id = await use.submit({ topic: 'job.svc.approval-gate' });
    await use.redis.hset(keys.job(id), 'run', 'r1');
    await change(id, { gate: { quorum: 1, exclude_starter: true, requester: 'ann' } });
    return id;
  }
  const end = async () => {
    await use.store.lease(keys.runLock('r1'), 'me', 60_000).hold();
    const status = { to: 'cancelled', keepSec: 600 } as const;
    await use.store.runs.save({ id: 'r1', revision: 1, owner: 'me', token: 't', status });
  };

  it('waits as long as its run does', async () => {
    const { ctx, later } = await use.start({ policy: ruled('require_approval'), withoutLoops: true });
    const id = await gate();

    await expireApproval(ctx, id);
    expect(await repairOpenJobs(later(2 * day))).toBe(0);

    expect((await use.job(id)).state).toBe('APPROVAL_REQUIRED');
  });

  it('is closed once its run has ended without closing it', async () => {
    const { later } = await use.start({ policy: ruled('require_approval'), withoutLoops: true });
    const id = await gate();
    await end();

    expect(await repairOpenJobs(later(restedMs))).toBe(1);

    const job = await use.until(id, 'DENIED', { error_code: 'approval_invalidated' });
    expect(job.approval).toMatchObject({ status: 'invalidated', decision: 'invalidate', revision: 2 });
  });
});
