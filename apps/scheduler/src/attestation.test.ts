import { alertPacket } from '@svc/contract';
import { newWorkerToken } from '@svc/identity';
import { eventually } from '@svc/testing';
import { WorkerTrustRepository, type TrustMode } from '@svc/worker-trust';
import { listRefusals, type Scheduler } from './refusals.testing';
import { useScheduler } from './use-scheduler.testing';
import { giveCredential, type GivenCredential } from './worker-credentials.testing';

const use = useScheduler();
const start = (mode: TrustMode) => use.start({ env: { workerAttestation: mode } });

/** Stores a credential that the scheduler has read. */
async function given(scheduler: Scheduler, credential: GivenCredential): Promise<string> {
  const token = await giveCredential(use.store, credential);
  await scheduler.ctx.trust.sync();
  return token;
}

const refused = (scheduler: Scheduler, ...expected: string[]) =>
  eventually(async () => expect(await listRefusals(scheduler)).toEqual(expect.arrayContaining(expected)));

describe('while attestation is enforced', () => {
  it('a worker with a credential runs jobs, with its token in the heartbeat and in its other packets', async () => {
    const scheduler = await start('enforce');
    const token = await given(scheduler, { worker: 'w1' });
    const worker = await use.rawWorker({ id: 'w1', token });
    const id = await use.submit();
    const request = await worker.dispatched(id);

    worker.progress(id, 40);
    await use.until(id, 'RUNNING', { progress_percent: 40 });
    await worker.answer(request);

    await use.until(id, 'SUCCEEDED');
    expect(await listRefusals(scheduler)).toEqual([]);
  });

  it.each<{ reason: string; credential?: Partial<GivenCredential>; token?: string; sender?: string }>([
    { reason: 'auth_token_missing', credential: {}, token: '' },
    { reason: 'credential_invalid', credential: {}, token: newWorkerToken() },
    { reason: 'credential_invalid', credential: {}, token: 'short' },
    { reason: 'credential_invalid', token: newWorkerToken() },
    { reason: 'pool_not_allowed', credential: { pools: [] } },
    { reason: 'pool_not_allowed', credential: { pools: ['other'] } },
    { reason: 'sender_id_mismatch', credential: {}, sender: 'w2' },
  ])('a heartbeat is refused and counted: $reason', async ({ reason, credential, token, sender }) => {
    const scheduler = await start('enforce');
    const valid = credential ? await given(scheduler, { worker: 'w1', ...credential }) : '';

    await use.rawWorker({ id: 'w1', token: token ?? valid, ...(sender && { sender }) });

    await refused(scheduler, `heartbeat ${reason} enforce`);
    expect(scheduler.ctx.registry.has('w1')).toBe(false);
  });

  it('a handshake is refused when it names a topic that the credential does not permit', async () => {
    const scheduler = await start('enforce');
    const token = await given(scheduler, { worker: 'w1', topics: ['job.demo.*'] });
    const worker = await use.rawWorker({ id: 'w1', token });

    worker.shake({ topics: ['job.demo.>'] });
    await refused(scheduler, 'handshake topic_not_allowed enforce');
    worker.shake({ topics: ['job.demo.echo', 'job.demo.*'] });

    await eventually(() =>
      expect(scheduler.ctx.registry.records()).toMatchObject([{ ready_topics: ['job.demo.echo', 'job.demo.*'] }]),
    );
  });

  it('results and progress that are forged in the name of a worker are refused and counted', async () => {
    const scheduler = await start('enforce');
    const worker = await use.rawWorker({ id: 'w1', token: await given(scheduler, { worker: 'w1' }) });
    const stranger = await given(scheduler, { worker: 'w2' });
    const id = await use.submit();
    const request = await worker.dispatched(id);
    const forger = (packetToken: string) => use.rawWorker({ id: 'w1', silent: true, packetToken });

    for (const token of ['', stranger]) {
      const forged = await forger(token);
      forged.progress(id, 99, { dispatch: request.dispatch });
      forged.report(id, { output: 'forged', dispatch: request.dispatch });
      await forged.answer(request, 'FAILED_FATAL');
    }

    await refused(
      scheduler,
      ...['job_result', 'job_progress'].flatMap((kind) => [
        `${kind} auth_token_missing enforce`,
        `${kind} credential_invalid enforce`,
      ]),
    );
    worker.report(id, { output: 'genuine', dispatch: request.dispatch });
    await eventually(async () => {
      const { events } = await use.store.eventLogs.read({ job: id }, 0, 100);
      expect(events.map(({ text }) => (JSON.parse(text) as { text: string }).text)).toEqual(['genuine']);
    });
    await worker.answer(request);
    await use.until(id, 'SUCCEEDED');
    expect((await use.job(id)).progress_percent).toBeUndefined();
  });

  it('workers get only jobs of their topics, and of their tenant', async () => {
    const scheduler = await start('enforce');
    const acme = await use.rawWorker({ id: 'a1', max: 9, token: await given(scheduler, { worker: 'a1', tenant: 'acme' }) });
    const narrow = await use.rawWorker({ id: 'n1', max: 9, token: await given(scheduler, { worker: 'n1', topics: ['job.narrow'] }) });
    await eventually(() => expect(scheduler.ctx.registry.records()).toHaveLength(2));

    const foreign = await use.submit({ topic: 'job.wide' }, 'globex');
    await eventually(async () => expect((await use.job(foreign)).waiting_reason).toBeTruthy());
    const own = await use.submit({ topic: 'job.wide' }, 'acme');
    const narrowed = await use.submit({ topic: 'job.narrow' }, 'globex');

    expect((await acme.dispatched(own)).job_id).toBe(own);
    expect((await narrow.dispatched(narrowed)).job_id).toBe(narrowed);
    expect([...acme.order(), ...narrow.order()].sort()).toEqual([own, narrowed].sort());
  }); // prettier-ignore

  it('a revoked worker loses its jobs to others within a second, on every scheduler', async () => {
    const schedulers = [await start('enforce'), await start('enforce')];
    const [first] = schedulers as [Scheduler, Scheduler];
    const worker = await use.rawWorker({ id: 'w1', token: await given(first, { worker: 'w1' }) });
    await eventually(() => expect(schedulers.map(({ ctx }) => ctx.registry.has('w1'))).toEqual([true, true]));
    const id = await use.submit();
    const request = await worker.dispatched(id);

    await new WorkerTrustRepository(use.redis).revoke('*', 'w1', new Date().toISOString());

    await use.until(id, 'RETRYING');
    await eventually(() => expect(schedulers.map(({ ctx }) => ctx.registry.has('w1'))).toEqual([false, false]));
    expect(await use.published('job_cancel', 'sys.job.cancel', id)).toMatchObject([{ dispatch: request.dispatch }]);
    await worker.answer(request);
    const other = await use.rawWorker({ id: 'w2', token: await giveCredential(use.store, { worker: 'w2' }) });
    await use.promote();
    await other.answer(await other.dispatched(id));
    await use.until(id, 'SUCCEEDED', { worker_id: 'w2' });
    await refused(first, 'heartbeat credential_invalid enforce');
  });

  it('a replaced token is refused, and the new one is accepted', async () => {
    const scheduler = await start('enforce');
    const old = await given(scheduler, { worker: 'w1' });
    const before = await use.rawWorker({ id: 'w1', token: old });
    await eventually(() => expect(scheduler.ctx.registry.has('w1')).toBe(true));

    const token = await given(scheduler, { worker: 'w1' });

    await refused(scheduler, 'heartbeat credential_invalid enforce');
    before.mute();
    const after = await use.rawWorker({ id: 'w1', token });
    await after.answer(await after.dispatched(await use.submit()));
  });
});

describe('while attestation warns', () => {
  it('packets without a valid credential are handled and counted', async () => {
    const scheduler = await start('warn');
    const worker = await use.rawWorker({ id: 'w1', token: newWorkerToken() });
    const id = await use.submit();

    await worker.answer(await worker.dispatched(id));

    await use.until(id, 'SUCCEEDED');
    await refused(scheduler, 'heartbeat credential_invalid warn', 'job_result credential_invalid warn');
  });
});

describe('while attestation is off', () => {
  it('tokens are ignored, until the config turns attestation on', async () => {
    const scheduler = await use.start();
    const worker = await use.rawWorker({ id: 'w1', token: 'anything' });
    await worker.answer(await worker.dispatched(await use.submit()));
    expect(await listRefusals(scheduler)).toEqual([]);

    await use.config({ boundary_hardening: { worker_attestation: 'enforce' } });
    const head = { trace_id: 't', sender_id: 'gateway-1', nowUs: Date.now() * 1_000 };
    use.bus.publish('sys.config.changed', alertPacket(head, { severity: 'info', message: 'config changed' }));

    await refused(scheduler, 'heartbeat credential_invalid enforce');
  });
});
