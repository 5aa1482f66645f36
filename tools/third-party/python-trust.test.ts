import { encodePacket, jobCancelPacket, jobRequestPacket, subjects, type JobRequestDraft } from '@svc/contract';
import { openPacketSigner } from '@svc/jetstream';
import { endChild, eventually, spawnLeashed } from '@svc/testing';
import { WorkerTrustRepository } from '@svc/worker-trust';
import type { ChildProcess } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { listRefusals } from '../../apps/scheduler/src/refusals.testing';
import { useScheduler } from '../../apps/scheduler/src/use-scheduler.testing';
import { giveCredential } from '../../apps/scheduler/src/worker-credentials.testing';
import { requirePython, scriptPath } from './python';

const newKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    secret: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    pem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
};
const [services, own, stranger] = [newKey(), newKey(), newKey()];
const secret = 'AKIA' + 'IOSFODNN7REALKEY';
const patience = { withinMs: 20_000 };

/** A worker of sdk/python with a real scheduler. */
describe('a worker on sdk/python', () => {
  const use = useScheduler();
  let worker: ChildProcess | undefined;
  let output = '';
  afterEach(async () => {
    if (worker) await endChild(worker);
    worker = undefined;
  });

  async function start(more: NodeJS.ProcessEnv = {}): Promise<void> {
    output = '';
    const { natsUrl: NATS_URL, redisUrl: REDIS_URL } = use.servers;
    const names = { WORKER_ID: 'w1', SVC_POOL: 'main', PYTHONPATH: resolve(__dirname, '../../sdk/python') };
    const env = { ...process.env, NATS_URL, REDIS_URL, ...names, ...more };
    const child = spawnLeashed(requirePython(), [scriptPath('sdk_worker.py')], { env, output: 'pipe' });
    worker = child;
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data: Buffer) => (output += String(data)));
    await printed('ready');
  }
  const printed = (text: string, count = 1) =>
    eventually(() => expect(output.split('\n').filter((line) => line.includes(text)).length).toBe(count), patience);
  const submit = (name: string, prompt = 'hello') => use.submit({ topic: `job.demo.${name}`, prompt });

  it('writes log lines and partial output that are logged in order, with secrets masked', async () => {
    await use.start();
    await start();

    const id = await submit('shown', secret);

    const job = await use.until(id, 'SUCCEEDED');
    const { events } = await use.store.eventLogs.read({ job: id }, 0, 100);
    const log = events.map(({ text }) => JSON.parse(text) as Record<string, unknown>);
    expect(JSON.stringify([log, job.progress_message])).not.toContain(secret);
    expect(log.map(({ kind }) => kind).sort()).toEqual(['log', 'output', 'progress']);
    expect(log.find(({ kind }) => kind === 'log')).toMatchObject({
      job_id: id,
      attempt: 1,
      lines: [{ level: 'warn', message: expect.stringMatching(/^connected with .*REDACTED/) as string }],
    });
    expect(log.find(({ kind }) => kind === 'output')).toMatchObject({
      offset: 0,
      text: expect.stringMatching(/^Hello world, the key is .*REDACTED.* !$/) as string,
    });
  });

  describe('with keys, where signatures and sessions are enforced', () => {
    async function startTrusted() {
      const env = { sdkHandshake: 'enforce', packetSignatures: 'enforce', packetSigningKey: services.secret } as const;
      const scheduler = await use.start({ env });
      await giveCredential(use.store, { worker: 'w1', keys: [own.pem] });
      await scheduler.ctx.trust.sync();
      await start({ WORKER_SIGNING_KEY: own.secret, SVC_SERVICE_PUBLIC_KEYS: stranger.pem + services.pem });
      const handshakes = async () =>
        Object.fromEntries(
          [...(await scheduler.metrics()).matchAll(/worker_handshakes_total\{.*?outcome="([^"]*)".*?\} (\d+)/g)].map(
            ([, outcome = '', count]) => [outcome, Number(count)],
          ),
        );
      return { scheduler, handshakes };
    }

    it('gets a session before its first heartbeat, and signs all that it sends', async () => {
      const { scheduler, handshakes } = await startTrusted();

      await use.until(await submit('shown'), 'SUCCEEDED');

      expect([await listRefusals(scheduler), await handshakes()]).toEqual([[], { issued: 1 }]);
      expect(output).not.toContain('handshake:');
    });

    it('renews its session; when it is revoked, it is notified and proves its key again', async () => {
      const { scheduler, handshakes } = await startTrusted();
      worker?.kill('SIGUSR1');
      await printed('session');
      expect(await handshakes()).toEqual({ issued: 1, renewed: 1 });
      await use.until(await submit('echo'), 'SUCCEEDED');
      expect(await listRefusals(scheduler)).toEqual([]);

      await new WorkerTrustRepository(use.redis).revokeSession('*', 'w1');
      // Without a renewal, which would find out as well.
      await eventually(async () => expect(await handshakes()).toMatchObject({ issued: 2, renewed: 1 }), patience);

      await use.until(await submit('echo'), 'SUCCEEDED', { worker_id: 'w1' });
      expect(output).toContain('the services ended the session of this worker');
    });

    it('refuses dispatches and cancels that the services did not sign', async () => {
      await startTrusted();
      const id = await submit('slow');
      await printed(`ran ${id}`);
      await use.until(id, 'RUNNING');
      const head = { trace_id: 't', sender_id: 'scheduler', nowUs: Date.now() * 1_000 };
      const forge = (bytes: Uint8Array) => openPacketSigner(newKey().secret).seal(bytes);
      const dispatch = (draft: JobRequestDraft) => {
        const named = { dispatch_id: randomUUID(), attempt: 1, assigned_worker_id: 'w1' };
        const request = { topic: 'job.demo.echo', tenant_id: 'acme', dispatch: named, ...draft };
        return encodePacket(jobRequestPacket(head, request));
      };
      const cancel = encodePacket(jobCancelPacket(head, { job_id: id, reason: 'forged' }));

      await use.bus.publishDurableBytes('worker.w1.jobs', forge(dispatch({ job_id: 'forged' })));
      await use.bus.publishDurableBytes('worker.w1.jobs', dispatch({ job_id: 'unsigned' }));
      for (const bytes of [forge(cancel), cancel]) use.bus.publishBytes(subjects.jobCancel.name, bytes);

      const codes = () => use.bodies('alert', subjects.alert.name).map(({ error_code_enum: code }) => code);
      await eventually(() => expect(codes().sort()).toEqual([103, 103, 104, 104]), patience);
      expect(output).not.toMatch(/ran (forged|unsigned)/);
      expect(await use.job(id)).toMatchObject({ state: 'RUNNING' });
      await use.cancel(id);
      await eventually(
        () => expect(use.bodies('job_result', subjects.jobResult.name, id).length).toBeGreaterThan(1),
        patience,
      );
    });
  });
});
