import { repositoryRoot } from '../stack/settings';
import { Supervised, type UnaskedEnd } from '../stack/supervised';
import { build } from 'esbuild';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startScriptedWorker, type Reply, type ScriptedWorker } from './scripted-worker';
import type { World } from './world';

export interface WorkerProcessOptions {
  onUnaskedEnd?(end: UnaskedEnd): void;
  /** Further variables, by worker. */
  envs?: ReadonlyMap<string, NodeJS.ProcessEnv>;
}

/** Worker processes built with the SDK, restarted when they exit. */
export async function startWorkerProcesses(
  ids: readonly string[],
  urls: { nats: string; redis: string },
  { onUnaskedEnd, envs }: WorkerProcessOptions = {},
): Promise<Supervised[]> {
  // Inside the repository, so that Node resolves its packages.
  const folder = join(repositoryRoot, 'node_modules', '.svc-chaos');
  mkdirSync(folder, { recursive: true });
  const script = join(folder, 'worker.cjs');
  await build({
    entryPoints: [join(__dirname, 'worker-process.ts')],
    outfile: script,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    packages: 'external',
    tsconfig: join(repositoryRoot, 'tsconfig.base.json'),
    logLevel: 'warning',
  });
  const workers = ids.map((id) => {
    const { nats: NATS_URL, redis: REDIS_URL } = urls;
    const env = { ...process.env, WORKER_ID: id, SVC_POOL: 'chaos', NATS_URL, REDIS_URL, ...envs?.get(id) };
    const plan = { name: id, command: process.execPath, args: [script], cwd: repositoryRoot, env };
    return new Supervised(
      { ...plan, isReady: async () => true },
      {
        onLine: () => undefined,
        onChange: () => undefined,
        ...(onUnaskedEnd && { onUnaskedEnd }),
        firstPauseMs: 100,
        longestPauseMs: 1_000,
      },
    );
  });
  await Promise.all(workers.map((worker) => worker.start()));
  return workers;
}

const replyTo = (topic: string, attempt: number, jobId: string): Reply => {
  if (topic === 'job.chaos.again' && jobId.endsWith('@1')) return { status: 'FAILED' };
  if (topic === 'job.chaos.broken') return { status: 'FAILED_FATAL', errorCode: 'broken' };
  if (topic === 'job.chaos.flaky' && attempt === 1) return { status: 'FAILED_RETRYABLE', errorCode: 'busy' };
  return { status: 'SUCCEEDED' };
};

/** Few, so that most jobs go to honest workers. */
const slots = 3;

/** Sends half of its results late and the other half never. */
export function startSlowWorker(world: World, random: () => number, token = ''): Promise<ScriptedWorker> {
  return start(world, { id: 'slow', token }, async (worker, request) => {
    if (random() < 0.5) return;
    await new Promise((resume) => setTimeout(resume, random() * 3_000));
    await worker.answer(request, replyTo(request.topic, Number(request.env['SVC_ATTEMPT']), request.job_id));
  });
}

/** Sends results as other workers and for dispatches that do not exist, then the right one, often twice. */
export function startLyingWorker(world: World, random: () => number, token = ''): Promise<ScriptedWorker> {
  return start(world, { id: 'liar', token }, async (worker, request) => {
    const lie: Reply = { status: 'SUCCEEDED', text: 'a lie' };
    await worker.answer(request, lie, 'another-worker');
    const dispatch = { dispatch_id: 'never-was', attempt: 1, assigned_worker_id: 'liar' };
    await worker.answer({ ...request, dispatch }, lie);
    if (random() < 0.1) return;
    const reply = replyTo(request.topic, Number(request.env['SVC_ATTEMPT']), request.job_id);
    await worker.answer(request, reply);
    if (random() < 0.5) await worker.answer(request, reply);
  });
}

type Request = Parameters<ScriptedWorker['answer']>[0];

async function start(
  world: World,
  who: { id: string; token: string },
  act: (worker: ScriptedWorker, request: Request) => Promise<void>,
) {
  const worker: ScriptedWorker = await startScriptedWorker({
    ...who,
    pool: 'chaos',
    natsUrl: world.nats.url,
    redis: world.store.redis,
    answers: world.answers,
    slots,
    // Drops jobs whose result it could not send, like a restarted process.
    forgetsAfterMs: 25_000,
    onJob(request) {
      void act(worker, request).catch(() => undefined);
      return undefined;
    },
  });
  return worker;
}
