import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keys, openStore, type Store } from '@svc/store';
import { isTerminal, jobStates, terminalStates } from '@svc/lifecycle';
import { defaultShard, shardTag } from '@svc/queues';
import { queues } from '@svc/queues.config';
import { Redis } from 'ioredis';
import { bundleProgram, firstMessage, startChild, stopChild } from '../child-program';
import { startStack, type Stack } from '../stack';
import { coreServices } from '../stack/settings';
import { HttpLoad, httpRequest } from './http-load';
import type { Pids } from './process-cost';
import { submissionBody } from './submission';
import { workerCounts, type WorkerCounts } from './worker-process';

/** Name of the bench's own Redis connections, which separates its calls from those of the product. */
export const observerName = 'bench';

export interface ProductOptions {
  say(text: string): void;
  /** Added to the environment of the services and the worker. */
  env?: NodeJS.ProcessEnv;
  /** Jobs the worker runs at once. */
  workerConcurrency?: number;
  /** Default sdk. */
  worker?: WorkerKind;
}

/** A worker made with the SDK, or one that speaks only the plain protocol. */
export type WorkerKind = keyof typeof workerPrograms;
const workerPrograms = { sdk: 'tools/bench/worker.ts', foreign: 'tools/bench/foreign-worker.ts' };
/** Enough for everything that a whole bench stores. */
const REDIS_MEMORY = '8gb';

const openStates = jobStates.states.filter((state) => !isTerminal(state));

/**
 * The product under measurement: gateway, scheduler and engine as `npm start` runs them, with the policy, pools and limits in
 * `config/`, without TLS; and a process with one worker. The kernel runs within the services.
 */
export class Product {
  private constructor(
    readonly stack: Stack,
    readonly worker: ChildProcess,
    readonly redis: Redis,
    /** Read-only access to the product's store. */
    readonly store: Store,
    private readonly dataDir: string,
  ) {}

  static async start({
    say,
    env = {},
    workerConcurrency = 256,
    worker: kind = 'sdk',
  }: ProductOptions): Promise<Product> {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
    const services = coreServices;
    const stack = await startStack({
      dataDir,
      tls: false,
      usualPorts: false,
      services,
      env: {
        ...process.env,
        // Set explicitly, whatever the caller's environment.
        REDIS_URL: '',
        NATS_URL: '',
        SVC_LOG_LEVEL: 'warn',
        API_RATE_LIMIT_RPS: '1000000',
        API_RATE_LIMIT_BURST: '1000000',
        // A stopped scheduler receives no heartbeats.
        WORKER_HEARTBEAT_TTL: '10m',
        ...env,
      },
      onProgress: say,
      // Warnings of the stores are about the machine, not about the product.
      onLine: (name, line) => (services.some((service) => service.name === name) ? say(`${name}: ${line}`) : undefined),
    });
    const { redis_url: REDIS_URL, nats_url: NATS_URL } = stack.info;
    const worker = startChild(await bundleProgram(workerPrograms[kind]), {
      ...process.env,
      WORKER_ID: 'bench-1',
      BENCH_CONCURRENCY: String(workerConcurrency),
      SVC_INSTANCE_ID: 'worker',
      ...env,
      REDIS_URL,
      NATS_URL,
    });
    await firstMessage(worker);
    const redis = new Redis(REDIS_URL, { connectionName: observerName });
    // With the limit of the stack, admission control would refuse the last measurements: all jobs and runs are kept.
    await redis.config('SET', 'maxmemory', REDIS_MEMORY);
    const store = openStore(redis, queues, { metaSec: 86_400, dataSec: 86_400 });
    return new Product(stack, worker, redis, store, dataDir);
  }

  get pids(): Pids {
    return { ...this.stack.info.pids, worker: this.worker.pid ?? 0 };
  }

  get apiPort(): number {
    return Number(new URL(this.stack.info.base_url).port);
  }

  openLoad = (connections: number) => HttpLoad.open(this.apiPort, connections);

  get = (path: string) => httpRequest('GET', path, this.headers());
  post = (path: string, body: unknown, who: 'admin' | 'approver' = 'admin') =>
    httpRequest('POST', path, this.headers(who), JSON.stringify(body));

  submission(): Buffer {
    return this.post('/api/v1/jobs', submissionBody());
  }

  private headers(who: 'admin' | 'approver' = 'admin') {
    return { 'X-API-Key': this.stack.info.keys[who] };
  }

  /** Memory used by Redis for data, bytes. */
  async redisBytes(): Promise<number> {
    return Number(/^used_memory_dataset:(\d+)/m.exec(await this.redis.info('memory'))?.[1] ?? 0);
  }

  /** Timers of runs that have not fired. */
  timersSet = (): Promise<number> => this.redis.zcard(keys.delayTimers());

  /** Jobs that are held for approval. */
  held = (): Promise<number> => this.redis.zcard(keys.jobsInState(this.tenant, 'APPROVAL_REQUIRED'));

  private get tenant() {
    return this.stack.info.tenant;
  }

  /** Number of the tenant's jobs that have not ended, and of outputs still to be scanned: one round trip. */
  async unfinished(): Promise<{ open: number; scans: number }> {
    const scans = `${shardTag(defaultShard)}:${queues.outputScan.name}:`;
    const reading = this.redis.pipeline();
    for (const state of openStates) reading.zcard(keys.jobsInState(this.tenant, state));
    reading.llen(`${scans}wait`).llen(`${scans}active`).zcard(`${scans}delayed`).zcard(`${scans}prioritized`);
    const counts = ((await reading.exec()) ?? []).map(([error, count]) => {
      if (error) throw error;
      return Number(count);
    });
    const total = (some: readonly number[]) => some.reduce((a, b) => a + b, 0);
    return { open: total(counts.slice(0, openStates.length)), scans: total(counts.slice(openStates.length)) };
  }

  /** Commands that one call of `unfinished` adds to Redis' own count. */
  static readonly unfinishedCosts = openStates.length + 4;

  /** Number of the tenant's jobs in each terminal state. */
  async ended(): Promise<Record<string, number>> {
    const counts = await Promise.all(
      terminalStates.map((state) => this.redis.zcard(keys.jobsInState(this.tenant, state))),
    );
    return Object.fromEntries(terminalStates.map((state, i) => [state, counts[i] ?? 0]));
  }

  /** Stops a process with SIGSTOP, or resumes it. */
  freeze = (service: string) => this.signal(service, 'SIGSTOP');
  thaw = (service: string) => this.signal(service, 'SIGCONT');

  signal(service: string, signal: NodeJS.Signals): void {
    const pid = this.pids[service];
    if (!pid) throw new Error(`${service} is not running`);
    process.kill(pid, signal);
  }

  workerCounts = (): Promise<WorkerCounts> => workerCounts(this.worker);

  async stop(): Promise<void> {
    this.redis.disconnect();
    await stopChild(this.worker);
    await this.stack.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
