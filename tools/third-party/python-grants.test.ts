import { encodePacket, jobRequestPacket } from '@svc/contract';
import { endChild, eventually, spawnLeashed } from '@svc/testing';
import type { ChildProcess } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { ruled, useScheduler } from '../../apps/scheduler/src/use-scheduler.testing';
import { requirePython, scriptPath } from './python';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const secret = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
const patience = { withinMs: 20_000 };

/** A worker of sdk/python that verifies the grants of a real scheduler. */
describe('a worker on sdk/python with the key of grants', () => {
  const use = useScheduler();
  let worker: ChildProcess | undefined;
  let output = '';
  afterEach(async () => {
    if (worker) await endChild(worker);
    worker = undefined;
  });

  async function start(): Promise<void> {
    output = '';
    const { natsUrl: NATS_URL, redisUrl: REDIS_URL } = use.servers;
    const names = { WORKER_ID: 'w1', SVC_POOL: 'main', PYTHONPATH: resolve(__dirname, '../../sdk/python') };
    const env = { ...process.env, NATS_URL, REDIS_URL, ...names, SVC_GRANT_PUBLIC_KEYS: publicPem };
    worker = spawnLeashed(requirePython(), [scriptPath('sdk_worker.py')], { env, output: 'pipe' });
    for (const stream of [worker.stdout, worker.stderr]) {
      stream?.on('data', (data: Buffer) => (output += String(data)));
    }
    await eventually(() => expect(output).toContain('ready'), patience);
  }

  it('runs an approved job once, and nothing that the services did not grant', async () => {
    await use.start({ env: { grantSigningKey: secret }, policy: ruled('require_approval') });
    await start();
    const id = await use.submit({ topic: 'job.demo.echo' });
    await use.until(id, 'APPROVAL_REQUIRED');
    const forged = randomUUID();
    const head = { trace_id: 't', sender_id: 'scheduler', nowUs: Date.now() * 1_000 };
    const dispatch = { dispatch_id: randomUUID(), attempt: 1, assigned_worker_id: 'w1' };
    const request = { job_id: forged, topic: 'job.demo.echo', tenant_id: 'acme', dispatch };
    await use.bus.publishDurableBytes('worker.w1.jobs', encodePacket(jobRequestPacket(head, request)));

    await use.approve(id);

    await use.until(id, 'SUCCEEDED');
    await eventually(() => {
      const [result] = use.bodies('job_result', 'sys.job.result', forged);
      expect(result).toMatchObject({ error_code: 'grant_missing' });
    }, patience);
    expect(output.match(/^ran .*/gm)).toEqual([`ran ${id} 1`]);
  });
});
