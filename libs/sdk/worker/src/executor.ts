import {
  alertPacket,
  decodePacket,
  jobProgressPacket,
  jobResultPacket,
  jobStatusOf,
  subjects,
  WireErrorCode,
  type JobCancel,
  type JobRequest,
  type PacketOf,
} from '@svc/contract';
import { bestMatch } from '@svc/routing';
import type { DataAccess } from './data-access';
import { failureOf, FatalError, JobAborted, RetryableError } from './errors';
import { buildJob, contextPointerOf, echoOf, identityOf, isCancelled, type DispatchIdentity } from './job';
import type { Keeper } from './keeper';
import type { Ledger, Receipt, Running } from './ledger';
import type { Link, TraceHeaders } from './link';
import type { WorkerSettings } from './options';
import { ProgressReports } from './progress';

/** A message of a job subject, from a stream or from core NATS. */
export interface Incoming {
  subject: string;
  bytes: Uint8Array;
  /** 1 on the first delivery. */
  deliveries: number;
  streamSeq?: number;
  receipt: Receipt;
  trace: TraceHeaders;
}

export interface ExecutorDeps {
  settings: WorkerSettings;
  link: Link;
  data: DataAccess;
  ledger: Ledger;
  keeper: Keeper;
}

interface Ending {
  status: 'SUCCEEDED' | ReturnType<typeof failureOf>['status'];
  result_ptr?: string;
  error_code?: string;
  error_message?: string;
  error_code_enum?: number;
}

/** What a job brings beside its result. */
interface Yields {
  artifacts: string[];
  costUsd?: number;
}

const unreadableDelayMs = 5_000;
const unreadableDeliveries = 3;
const publishRetryMs = 1_000;
/** Longest delay of a timer; a deadline beyond it is none. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * Runs jobs: decode, deduplicate, run, write, publish, and only then acknowledge.
 * See docs/reference/worker-protocol.md#minimum.
 */
export class Executor {
  constructor(private readonly deps: ExecutorDeps) {}

  /** Sees one message through to its acknowledgement; never throws. */
  async handle(incoming: Incoming): Promise<void> {
    const { ledger, settings } = this.deps;
    const packet = this.read(incoming);
    if (!packet) return;
    const identity = identityOf(packet.body);
    const known = ledger.find(identity);
    if (known?.kind === 'running') {
      // The same dispatch again: its message is acknowledged with the first.
      known.receipts.push(incoming.receipt);
      return;
    }
    try {
      if (known) {
        await known.republish();
        incoming.receipt.ack();
        return;
      }
      await this.run(packet, incoming, identity);
    } catch (error) {
      settings.onError(error, `job ${identity.jobId}`);
    }
  }

  /** Answers a job without running it: nothing of it is remembered, so that it may come again. */
  async refuse(incoming: Incoming, error: RetryableError): Promise<void> {
    const packet = this.read(incoming);
    if (!packet || this.deps.ledger.find(identityOf(packet.body))) return;
    await this.publish(this.result(packet, failureOf(error), 0, { artifacts: [] }), incoming.trace);
    incoming.receipt.ack();
  }

  /** Stops the runs that the cancel covers; their handlers get its grace period, or the worker's own when it is 0. */
  cancel(cancel: JobCancel): void {
    const { reason, grace_sec: graceSec } = cancel;
    const graceMs = graceSec > 0 ? Math.min(graceSec * 1_000, longestTimerMs) : undefined;
    for (const { identity, abort } of this.deps.ledger.running()) {
      if (isCancelled(identity, cancel)) abort.abort(new JobAborted('cancelled', reason || 'cancelled', graceMs));
    }
  }

  private read({ bytes, subject, deliveries, streamSeq, receipt }: Incoming): PacketOf<'job_request'> | undefined {
    const decoded = decodePacket(bytes);
    if (decoded.kind === 'ok' && decoded.packet.kind === 'job_request') return decoded.packet;
    if (decoded.kind === 'malformed' && deliveries < unreadableDeliveries) {
      receipt.nak(unreadableDelayMs);
      return undefined;
    }
    const wrong = {
      code: WireErrorCode.ERROR_CODE_UNKNOWN_PAYLOAD,
      reason: 'no job request',
      sender_id: '',
      trace_id: '',
    };
    const { code, reason, sender_id, trace_id } = decoded.kind === 'ok' ? wrong : decoded;
    const details = { subject, sender_id, stream_seq: String(streamSeq ?? '') };
    const severity = code === WireErrorCode.ERROR_CODE_UNKNOWN_PAYLOAD ? 'warning' : 'error';
    const { link } = this.deps;
    const alert = alertPacket(link.head(trace_id), { severity, message: `packet refused: ${reason}`, code, details });
    link.send(subjects.alert.name, alert);
    // Without the reason, which servers before 2.10 take for no termination at all.
    receipt.term();
    return undefined;
  }

  private async run(packet: PacketOf<'job_request'>, incoming: Incoming, identity: DispatchIdentity): Promise<void> {
    const { ledger, link } = this.deps;
    const startedMs = performance.now();
    const isShared = incoming.subject !== link.ownConsumer().subject;
    const running: Running = {
      kind: 'running',
      identity,
      receipts: [incoming.receipt],
      abort: new AbortController(),
      isShared,
    };
    const yields: Yields = { artifacts: [] };
    ledger.begin(running);
    const ending = await this.perform(packet, incoming.deliveries, running, yields);
    if (ending.error_code === 'lease_lost') {
      // Another worker may have it: it is for that one to answer.
      ledger.forget(identity);
      for (const receipt of running.receipts) receipt.nak();
      return;
    }
    const result = this.result(packet, ending, performance.now() - startedMs, yields);
    const publish = () => this.publish(result, incoming.trace);
    await publish();
    // If we die here, the message comes again, and the repeated result changes nothing.
    ledger.finish(identity, publish, Date.now());
    for (const receipt of running.receipts) receipt.ack();
  }

  private async perform(
    packet: PacketOf<'job_request'>,
    deliveries: number,
    { abort }: Running,
    yields: Yields,
  ): Promise<Ending> {
    const { body: request } = packet;
    const { signal } = abort;
    const deadlineMs = request.budget?.deadline_ms ?? 0;
    const late = () => abort.abort(new JobAborted('deadline', `deadline of ${deadlineMs} ms expired`));
    const timer = deadlineMs > 0 && deadlineMs < longestTimerMs ? setTimeout(late, deadlineMs) : undefined;
    const progress = this.progressOf(packet);
    try {
      this.admit(packet, deliveries, late);
      const result_ptr = await this.work(packet, abort, deadlineMs, progress, yields);
      return { status: 'SUCCEEDED', result_ptr };
    } catch (error) {
      return failureOf(signal.aborted ? signal.reason : error);
    } finally {
      clearTimeout(timer);
      progress.flush();
    }
  }

  /** Reasons not to begin. */
  private admit({ body, created_at_us }: PacketOf<'job_request'>, deliveries: number, late: () => void): void {
    const { maxDeliveries } = this.deps.settings;
    if (deliveries > maxDeliveries) {
      const message = `given up after ${maxDeliveries} deliveries without an answer`;
      throw new FatalError(message, { code: 'deliveries_exhausted' });
    }
    const deadlineMs = body.budget?.deadline_ms ?? 0;
    if (deadlineMs > 0 && created_at_us > 0 && Date.now() - created_at_us / 1_000 > deadlineMs) late();
  }

  private async work(
    { body: request, trace_id }: PacketOf<'job_request'>,
    { signal }: AbortController,
    deadlineMs: number,
    progress: ProgressReports,
    yields: Yields,
  ): Promise<string> {
    const { settings, data, keeper } = this.deps;
    signal.throwIfAborted();
    const handler = bestMatch(settings.topics, request.topic)?.value;
    if (!handler) {
      const errorCode = WireErrorCode.ERROR_CODE_WORKER_UNAVAILABLE;
      throw new RetryableError(`this worker does not serve ${request.topic}`, { code: 'topic_not_served', errorCode });
    }
    const store = data.of(request, signal);
    const pointer = contextPointerOf(request);
    const input = pointer ? await store.readContext(pointer, request.context_ref) : undefined;
    const job = buildJob(request, trace_id, input, {
      signal,
      deadline: deadlineMs > 0 ? new Date(Date.now() + deadlineMs) : undefined,
      progress: (percent, message) => progress.report(percent, message),
      cost: (usd) => {
        if (!Number.isFinite(usd) || usd < 0)
          throw new RangeError(`a cost must be a number from 0, in US dollars: ${usd}`);
        yields.costUsd = (yields.costUsd ?? 0) + usd;
      },
      writeArtifact: async (bytes, options) => {
        const pointer = await store.writeArtifact(bytes, {
          ...options,
          // So that it is withheld with the job's output, should that be.
          labels: { ...options.labels, job_id: request.job_id },
        });
        yields.artifacts.push(pointer);
        return pointer;
      },
    });
    signal.throwIfAborted();
    const value = await withinGrace(Promise.resolve(handler(job)), signal, settings.graceMs);
    // What finished although the worker is stopping counts; what was cancelled, late or given away does not.
    keeper.check();
    if (signal.aborted && !(signal.reason instanceof JobAborted && signal.reason.abortedBy === 'shutdown'))
      throw signal.reason;
    if (value === undefined) return '';
    const body = value instanceof Uint8Array ? value : JSON.stringify(value);
    return store.writeResult(body);
  }

  private progressOf({ body, trace_id }: PacketOf<'job_request'>): ProgressReports {
    const { link } = this.deps;
    const { job_id, env } = body;
    return new ProgressReports(({ percent, message }) => {
      const status = jobStatusOf('RUNNING');
      const report = { job_id, step_id: env['step_id'], percent, message, status, ...echoOf(body) };
      if (!link.connection.isClosed())
        link.send(subjects.jobProgress.name, jobProgressPacket(link.head(trace_id), report));
    });
  }

  private result(
    { body, trace_id }: { body: JobRequest; trace_id: string },
    { status, ...rest }: Ending,
    elapsedMs: number,
    { artifacts: artifact_ptrs, costUsd }: Yields,
  ): PacketOf<'job_result'> {
    return jobResultPacket(this.deps.link.head(trace_id), {
      job_id: body.job_id,
      worker_id: this.deps.settings.id,
      status: jobStatusOf(status),
      execution_ms: Math.round(elapsedMs),
      artifact_ptrs,
      ...echoOf(body),
      ...(costUsd !== undefined && { cost_usd: costUsd }),
      ...rest,
    });
  }

  /** Publishes until it is stored: a result that is lost costs the whole work. */
  private async publish(result: PacketOf<'job_result'>, trace: TraceHeaders): Promise<void> {
    const { link, settings } = this.deps;
    for (;;) {
      try {
        return await link.store(subjects.jobResult.name, result, trace);
      } catch (error) {
        if (link.connection.isClosed()) throw error;
        settings.onError(error, `publishing the result of ${result.body.job_id}`);
        await new Promise((resume) => setTimeout(resume, publishRetryMs));
      }
    }
  }
}

/** The work's value; after an abort, the work has the grace to end by itself: that of the abort, or the worker's own. */
async function withinGrace(work: Promise<unknown>, signal: AbortSignal, graceMs: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const graceOver = new Promise<never>((_, reject) => {
    const begin = () => {
      const reason: unknown = signal.reason;
      const granted = reason instanceof JobAborted ? reason.graceMs : undefined;
      timer = setTimeout(() => reject(signal.reason), granted ?? graceMs);
    };
    if (signal.aborted) begin();
    else signal.addEventListener('abort', begin, { once: true });
  });
  try {
    return await Promise.race([work, graceOver]);
  } finally {
    clearTimeout(timer);
  }
}
