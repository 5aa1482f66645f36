import { decodePacket, type Packet } from '@svc/contract';
import { endChild, eventually, isRunning, spawnLeashed } from '@svc/testing';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type NatsConnection } from 'nats';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '../demo/client';
import { startStack, type Stack, type StackOptions } from '../stack';
import { coreServices } from '../stack/settings';

export const patience = { withinMs: 60_000, everyMs: 50 };

const services = coreServices.filter(({ name }) => name === 'scheduler' || name === 'api');

export interface StartedWorker {
  process: ChildProcess;
  /** What it has written to its standard output and error so far. */
  output(): string;
}

/** The built gateway and scheduler for the tests of a file, with the packets that they and their workers publish. */
export function useWorkerStack({ env, ...options }: Pick<StackOptions, 'env' | 'tls' | 'workers'>) {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-third-party-'));
  const received: Packet[] = [];
  const workers: ChildProcess[] = [];
  let stack: Stack;
  let connection: NatsConnection;

  beforeAll(async () => {
    const own = { PATH: process.env['PATH'], HOME: process.env['HOME'], WORKER_READINESS_REQUIRED: 'true' };
    stack = await startStack({ ...options, dataDir, env: { ...own, ...env }, services, usualPorts: false });
    const { nats_url: servers, nats_user: user, nats_password: pass } = stack.info;
    connection = await connect({ servers, user, pass });
    for (const subject of ['sys.job.>', 'sys.alert']) {
      connection.subscribe(subject, {
        callback: (_, { data }) => {
          const decoded = decodePacket(data);
          if (decoded.kind === 'ok') received.push(decoded.packet);
        },
      });
    }
    await connection.flush();
  }, 180_000);
  afterAll(async () => {
    await Promise.all(workers.map((worker) => endChild(worker)));
    await connection?.close();
    await stack?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }, 30_000);

  const admin = () => new Client(stack.info, 'admin');
  const job = async (id: string) => (await admin().get(`/api/v1/jobs/${id}`)).body;

  return {
    dataDir,
    admin,
    job,
    info: () => stack.info,
    connection: () => connection,

    /** Addresses of NATS and Redis for a worker of the pool `demo`. */
    access(id: string): { NATS_URL: string; REDIS_URL: string } {
      const found = stack.info.workers['demo']?.find(({ worker_id }) => worker_id === id);
      if (!found) throw new Error(`no credentials for ${id}`);
      return { NATS_URL: found.nats_url, REDIS_URL: found.redis_url };
    },

    /** Starts a worker, which ends with the tests, and waits until it writes `ready`. */
    async start(program: string, args: readonly string[], more: NodeJS.ProcessEnv): Promise<StartedWorker> {
      const child = spawnLeashed(program, [...args], { env: { ...process.env, ...more }, output: 'pipe' });
      workers.push(child);
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data: Buffer) => (output += String(data)));
      const isReady = () => output.includes('ready');
      await eventually(() => {
        if (!isReady() && isRunning(child)) throw new Error(`the worker is not ready: ${output}`);
      }, patience);
      if (!isReady()) throw new Error(`the worker has ended: ${output}`);
      return { process: child, output: () => output };
    },

    /** @returns the id of the job */
    async submit(topic: string, prompt = 'hello', context = {}): Promise<string> {
      const { status, body } = await admin().post('/api/v1/jobs', { topic, prompt, context });
      expect([status, body]).toEqual([200, expect.objectContaining({ job_id: expect.any(String) as string })]);
      return String(body['job_id']);
    },

    until: (id: string, fields: object) =>
      eventually(async () => expect(await job(id)).toMatchObject(fields), patience),

    /** Results of a job that a worker has published. */
    results: (id: string, worker: string) =>
      received.flatMap(({ kind, sender_id, body }) =>
        kind === 'job_result' && sender_id === worker && body.job_id === id ? [body] : [],
      ),

    cancels: (id: string) =>
      received.flatMap(({ kind, body }) => (kind === 'job_cancel' && body.job_id === id ? [body.dispatch] : [])),

    /** Alerts about packets that a service has rejected. */
    rejections: () =>
      received.flatMap(({ kind, body }) =>
        kind === 'alert' && 'error_code_enum' in body && body.error_code_enum >= 100 && body.error_code_enum < 200
          ? [body]
          : [],
      ),
  };
}
