import { DelayedError, Queue, UnrecoverableError, Worker, type ConnectionOptions, type Job } from 'bullmq';
import { defaultShard, entryOptions, shardTag, type AnyQueueSpec, type QueueSpec } from './spec';

export interface Work<Payload, Ctx> {
  payload: Payload;
  /** From 1; counts attempts of this queue entry, not dispatches of a job. */
  attempt: number;
  ctx: Ctx;
}

/** Result of a processor that delays its entry instead of completing it. */
export interface RetryLater {
  retryInMs: number;
}

export interface Processor<Payload, Ctx> {
  queue: QueueSpec<Payload>;
  run(work: Work<Payload, Ctx>): Promise<RetryLater | void>;
}

/** Binds processors to an app's context: the context's type is named once per app. */
export const processorsFor =
  <Ctx>() =>
  <Payload>(queue: QueueSpec<Payload>, run: Processor<Payload, Ctx>['run']): Processor<Payload, Ctx> => ({
    queue,
    run,
  });

/** A queue handle for Bull Board, metrics, and adding entries outside a script. */
export const openQueue = (spec: AnyQueueSpec, connection: ConnectionOptions, shard = defaultShard): Queue =>
  new Queue(spec.name, { connection, prefix: shardTag(shard), defaultJobOptions: entryOptions(spec) });

export interface WorkerHooks {
  /** Called when a processor threw; the entry is retried or failed. */
  onFailed(queue: string, entryId: string | undefined, error: Error): void;
  /** Called when the connection or a script failed; BullMQ recovers by itself. */
  onError(queue: string, error: Error): void;
  /** Called when a processor starts. @param waitedMs time since the entry was due; set on the first attempt only */
  onStarted?(queue: string, waitedMs: number | undefined): void;
  /** The processor has returned or thrown. */
  onEnded?(queue: string): void;
  /** Lease of an entry, renewed every third of it. Default 60 s. */
  lockMs?: number;
  /** Interval of checks for expired leases. Default 15 s. */
  stalledCheckMs?: number;
  /** Shard whose queue it consumes. Default: the first. */
  shard?: string;
}

/**
 * Runs a processor. An entry with an invalid payload fails immediately, without a retry. The entry lock is the only job
 * lock (60 s, renewed every 20 s): an entry of a crashed process is taken over after at most `lockMs` plus
 * `stalledCheckMs`.
 */
export function startWorker<P, Ctx>(
  processor: Processor<P, Ctx>,
  ctx: Ctx,
  connection: ConnectionOptions,
  hooks: WorkerHooks,
): Worker {
  const { queue, run } = processor;
  const { lockMs = 60_000, stalledCheckMs = 15_000, shard = defaultShard } = hooks;
  const handle = async (entry: Job, token?: string) => {
    const { error, value } = queue.payload.validate(entry.data);
    if (error) throw new UnrecoverableError(`${queue.name}: payload is not valid: ${error.message}`);
    const answer = await run({ payload: value as P, attempt: entry.attemptsMade + 1, ctx });
    if (!answer) return;
    await entry.moveToDelayed(Date.now() + Math.max(1, answer.retryInMs), token);
    throw new DelayedError();
  };
  const worker = new Worker(
    queue.name,
    async (entry, token) => {
      hooks.onStarted?.(queue.name, firstWaitMs(entry));
      try {
        await handle(entry, token);
      } finally {
        hooks.onEnded?.(queue.name);
      }
    },
    {
      connection,
      prefix: shardTag(shard),
      concurrency: queue.concurrency,
      lockDuration: lockMs,
      lockRenewTime: Math.ceil(lockMs / 3),
      stalledInterval: stalledCheckMs,
      maxStalledCount: 10,
      drainDelay: 5,
    },
  );
  worker.on('failed', (entry, error) => hooks.onFailed(queue.name, entry?.id, error));
  worker.on('error', (error) => hooks.onError(queue.name, error));
  return worker;
}

/** Undefined for retries, whose delay is intended and not waiting time. */
const firstWaitMs = ({ attemptsStarted, processedOn, timestamp, delay }: Job): number | undefined =>
  attemptsStarted === 1 && processedOn !== undefined ? Math.max(0, processedOn - timestamp - delay) : undefined;

/** Starts all queues of an app. @throws Error unless each queue has one processor, and each processor a queue of the app */
export function startWorkers<Ctx>(
  app: string,
  queues: Readonly<Record<string, AnyQueueSpec>>,
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- processors of every payload type
  processors: readonly Processor<any, Ctx>[],
  ctx: Ctx,
  connection: ConnectionOptions,
  hooks: WorkerHooks,
): Worker[] {
  const consumed = Object.values(queues).filter(({ consumer }) => consumer === app);
  for (const { name } of consumed) {
    const count = processors.filter((p) => p.queue.name === name).length;
    if (count !== 1) throw new Error(`queue ${name} must have one processor in ${app} and has ${count}`);
  }
  const stray = processors.find((p) => !consumed.some(({ name }) => name === p.queue.name));
  if (stray) throw new Error(`${app} has a processor for ${stray.queue.name}, which it does not consume`);
  return processors.map((processor) => startWorker(processor, ctx, connection, hooks));
}
