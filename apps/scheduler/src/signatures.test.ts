import { subjects } from '@svc/contract';
import { findSignatureFault, openPacketKey } from '@svc/bus';
import { eventually } from '@svc/testing';
import type { TrustMode } from '@svc/worker-trust';
import { generateKeyPairSync } from 'node:crypto';
import { startRawWorker } from './raw-worker.testing';
import { listRefusals, type Scheduler } from './refusals.testing';
import { useScheduler } from './use-scheduler.testing';
import { giveCredential } from './worker-credentials.testing';

const newKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    secret: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    pem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
};
const services = newKey();
const own = newKey();

const use = useScheduler();
const start = (packetSignatures: TrustMode) =>
  use.start({ env: { packetSignatures, packetSigningKey: services.secret } });
const refused = (scheduler: Scheduler, ...expected: string[]) =>
  eventually(async () => expect(await listRefusals(scheduler)).toEqual(expect.arrayContaining(expected)));

/** A worker whose credential has the key, which the scheduler has read. */
async function trusted(scheduler: Scheduler, worker = 'w1', keys = [own.pem]): Promise<void> {
  await giveCredential(use.store, { worker, keys });
  await scheduler.ctx.trust.sync();
}

describe('while signatures are enforced', () => {
  it('a worker that signs runs jobs, and the dispatches and cancels it gets are signed by the services', async () => {
    const scheduler = await start('enforce');
    await trusted(scheduler);
    const dispatched: Uint8Array[] = [];
    use.bus.tap('worker.>', ({ bytes }) => dispatched.push(bytes));
    await use.bus.flush();
    const errors: unknown[] = [];
    await use.worker({
      id: 'w1',
      topics: {
        'job.work': async (job) => {
          if (job.prompt === 'wait') await new Promise((done) => job.signal.addEventListener('abort', done));
          return { done: true };
        },
      },
      signingKey: own.secret,
      serviceKeys: [services.pem],
      onError: (error) => errors.push(error),
    });

    await use.until(await use.submit(), 'SUCCEEDED');
    const cancelled = await use.submit({ prompt: 'wait' });
    await use.until(cancelled, 'RUNNING');
    await use.cancel(cancelled);
    await eventually(() => expect(use.bodies('job_result', 'sys.job.result', cancelled).length).toBeGreaterThan(1));

    const nowMs = Date.now();
    expect(dispatched.map((bytes) => findSignatureFault(bytes, [openPacketKey(services.pem)], nowMs, nowMs))).toEqual([
      undefined,
      undefined,
    ]);
    expect([await listRefusals(scheduler), errors]).toEqual([[], []]);
  });

  it('heartbeats are refused and counted: unsigned, signed by another, from a worker without a key, and repeated', async () => {
    const scheduler = await start('enforce');
    await trusted(scheduler);
    await trusted(scheduler, 'w2', []);
    const seen: Uint8Array[] = [];
    use.bus.tap(subjects.heartbeat.name, ({ bytes }) => seen.push(bytes));
    await use.bus.flush();

    await use.rawWorker({ id: 'w1' });
    await use.rawWorker({ id: 'w1', signingKey: newKey().secret });
    await use.rawWorker({ id: 'w2', signingKey: newKey().secret });
    await refused(
      scheduler,
      'heartbeat signature_missing enforce',
      'heartbeat signature_invalid enforce',
      'heartbeat signature_key_unknown enforce',
    );
    expect(scheduler.ctx.registry.records()).toEqual([]);

    await use.rawWorker({ id: 'w1', signingKey: own.secret });
    await eventually(() => expect(scheduler.ctx.registry.has('w1')).toBe(true));
    const key = [openPacketKey(own.pem)];
    const signed = seen.find((bytes) => !findSignatureFault(bytes, key, Date.now(), Date.now()));
    use.bus.publishBytes(subjects.heartbeat.name, signed ?? new Uint8Array());
    await refused(scheduler, 'heartbeat replay_detected enforce');
  });

  it('results and progress that are forged or repeated have no effect', async () => {
    const scheduler = await start('enforce');
    await trusted(scheduler);
    const worker = await use.rawWorker({ id: 'w1', signingKey: own.secret });
    const forger = await startRawWorker(use.servers.natsUrl, { id: 'w1', silent: true, signingKey: newKey().secret });
    const id = await use.submit();
    const request = await worker.dispatched(id);
    const reports: Uint8Array[] = [];
    use.bus.tap(subjects.jobProgress.name, ({ bytes }) => reports.push(bytes));
    await use.bus.flush();
    worker.progress(id, 40, { dispatch: request.dispatch });
    await use.until(id, 'RUNNING', { progress_percent: 40 });

    forger.progress(id, 99, { dispatch: request.dispatch });
    await forger.answer(request, 'FAILED_FATAL');
    use.bus.publishBytes(subjects.jobProgress.name, reports[0] ?? new Uint8Array());

    await refused(
      scheduler,
      'job_result signature_invalid enforce',
      'job_progress signature_invalid enforce',
      'job_progress replay_detected enforce',
    );
    await worker.answer(request);
    await use.until(id, 'SUCCEEDED', { progress_percent: 40 });
    await forger.stop();
  });
});

describe('while signatures warn', () => {
  it('a worker that signs nothing is served, and counted', async () => {
    const scheduler = await start('warn');
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();

    await worker.answer(await worker.dispatched(id));

    await use.until(id, 'SUCCEEDED');
    await refused(scheduler, 'heartbeat signature_missing warn', 'job_result signature_missing warn');
  });
});
