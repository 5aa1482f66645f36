import {
  alertPacket,
  decodePacket,
  encodeJobResult,
  maxInlineBytes,
  jobProgressPacket,
  jobResultMessageId,
  shorten,
  toJobStatus,
  subjects,
  WireErrorCode,
  type JobRequest,
  type JobCancel,
  type TypedPacket,
} from '@svc/contract';
import { EndOfTurn, type GrantFacts, type SignatureFault } from '@svc/jetstream';
import { bestMatch } from '@svc/routing';
import { Abort } from './abort';
import type { DataAccess } from './data-access';
import { forgedAlert } from './forged-alert';
import { Deadlines, longestTimerMs } from './deadlines';
import { Effects } from './effects';
import { toFailure, FatalError, JobAborted, RetryableError } from './errors';
import { buildJob, getContextPointer, buildEcho, getIdentity, isCancelled, type DispatchIdentity } from './job';
import { JobOutput } from './job-output';
import { Grants, withApprovedInput } from './grants';
import type { LeaseRenewer } from './lease-renewer';
import { ledgerKey, type Ledger, type Receipt, type Running } from './ledger';
import type { DurableMessage, Link, TraceHeaders } from './link';
import type { WorkerSettings } from './options';
import { ProgressReports } from './progress';
import { rejectForeign } from './reject-foreign';
import { parseContext, type JobData } from './store';

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
  ledger: Ledger<StoredResult>;
  leaseRenewer: LeaseRenewer;
  /** The services ended a session. */
  onSessionEnded(sessionId: string): void;
}

/** A result in its published form. The ledger keeps many of these, so it holds nothing else of the job. */
export interface StoredResult extends DurableMessage {
  jobId: string;
}

interface Ending extends Output {
  status: 'SUCCEEDED' | ReturnType<typeof toFailure>['status'];
  error_code?: string;
  error_message?: string;
  error_code_enum?: number;
}

/** The result body of a job: a pointer to it, and the body itself when it is part of the result message. */
interface Output {
  result_ptr?: string;
  inline_result?: Uint8Array;
  result_ticket?: Uint8Array;
}

/** Data of a result besides the result itself. */
interface Yields {
  artifacts: string[];
  costUsd?: number;
}

const unreadableDelayMs = 5_000;
const unreadableDeliveries = 3;
const publishRetryMs = 1_000;

/**
 * Runs jobs: decode, deduplicate, run, write, publish, and only then acknowledge.
 * See docs/reference/worker-protocol.md#minimum.
 */
export class Executor {
  private readonly deadlines = new Deadlines();
  private readonly acks = new EndOfTurn();
  private readonly grants: Grants;

  constructor(private readonly deps: ExecutorDeps) {
    const { grants, id, onError } = deps.settings;
    this.grants = new Grants(grants, id, onError);
  }

  /** Processes a message up to its acknowledgement; never throws. */
  async handle(incoming: Incoming): Promise<void> {
    const { ledger, settings } = this.deps;
    const packet = this.read(incoming);
    if (!packet || rejectForeign(packet, incoming, this.deps.link, settings.id)) return;
    const identity = getIdentity(packet.body);
    const key = ledgerKey(identity);
    const known = ledger.find(key);
    if (known?.kind === 'running') {
      // A repeated dispatch: its message is acknowledged with the first.
      known.receipts.push(incoming.receipt);
      return;
    }
    try {
      if (known) {
        await this.publish(known.result);
        this.acknowledge([incoming.receipt]);
        return;
      }
      await this.run(packet, incoming, { identity, key });
    } catch (error) {
      settings.onError(error, `job ${identity.jobId}`);
    }
  }

  /** Publishes a failure without running the job, and without a ledger entry, so that it can be redelivered. */
  async refuse(incoming: Incoming, error: RetryableError): Promise<void> {
    const packet = this.read(incoming);
    if (!packet || this.deps.ledger.find(ledgerKey(getIdentity(packet.body)))) return;
    await this.publish(this.result(packet, toFailure(error), 0, { artifacts: [] }, incoming.trace));
    this.acknowledge([incoming.receipt]);
  }

  /** Sends what is still collected. No job may be running. */
  stop(): void {
    this.deadlines.stop();
    this.acks.flush();
  }

  /** Handles a cancel as it was received; one that is not signed by the services is reported and ignored. */
  offerCancel(bytes: Uint8Array): void {
    const decoded = decodePacket(bytes);
    if (decoded.kind !== 'ok' || decoded.packet.kind !== 'job_cancel') return;
    const fault = this.deps.link.trust.findFault(bytes, decoded.packet, Date.now());
    if (fault) this.reportForged(decoded.packet, subjects.jobCancel.name, fault);
    else this.cancel(decoded.packet.body);
  }

  /** Aborts the runs that the cancel covers, with its grace period, or that of the worker when it is 0. */
  cancel(cancel: JobCancel): void {
    const { reason, grace_sec: graceSec } = cancel;
    const graceMs = graceSec > 0 ? Math.min(graceSec * 1_000, longestTimerMs) : undefined;
    for (const { identity, abort } of this.deps.ledger.running()) {
      if (isCancelled(identity, cancel)) abort.abort(new JobAborted('cancelled', reason || 'cancelled', graceMs));
    }
  }

  private read({ bytes, subject, deliveries, streamSeq, receipt }: Incoming): TypedPacket<'job_request'> | undefined {
    const decoded = decodePacket(bytes);
    const { kind } = decoded.kind === 'ok' ? decoded.packet : decoded;
    if (decoded.kind === 'ok' && (kind === 'job_request' || kind === 'worker_handshake_result')) {
      const { packet } = decoded;
      const fault = this.deps.link.trust.findFault(bytes, packet, Date.now());
      if (!fault && packet.kind === 'job_request') return packet;
      if (fault) this.reportForged(packet, subject, fault);
      else this.deps.onSessionEnded(packet.trace_id);
      receipt.term();
      return undefined;
    }
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
    const details = { subject, sender_id: shorten(sender_id), stream_seq: String(streamSeq ?? '') };
    const severity = code === WireErrorCode.ERROR_CODE_UNKNOWN_PAYLOAD ? 'warning' : 'error';
    const { link } = this.deps;
    // An alert must fit in a message itself.
    const message = `packet refused: ${shorten(reason)}`;
    const alert = alertPacket(link.head(shorten(trace_id)), { severity, message, code, details });
    link.send(subjects.alert.name, alert);
    // Without the reason, because servers before 2.10 ignore a termination with one.
    receipt.term();
    return undefined;
  }

  private reportForged(
    { sender_id, trace_id }: Pick<TypedPacket<'job_request'>, 'sender_id' | 'trace_id'>,
    subject: string,
    fault: SignatureFault,
  ): void {
    const { link, settings } = this.deps;
    link.send(subjects.alert.name, forgedAlert(link.head(shorten(trace_id)), { subject, sender_id, fault }));
    settings.onError(new Error(`packet refused: ${fault}`), subject);
  }

  private async run(
    packet: TypedPacket<'job_request'>,
    incoming: Incoming,
    { identity, key }: { identity: DispatchIdentity; key: string },
  ): Promise<void> {
    const { ledger, link } = this.deps;
    const startedMs = performance.now();
    const isShared = incoming.subject !== link.ownConsumer().subject;
    const running: Running = {
      kind: 'running',
      key,
      identity,
      receipts: [incoming.receipt],
      abort: new Abort(),
      isShared,
    };
    const yields: Yields = { artifacts: [] };
    ledger.begin(running);
    const ending = await this.perform(packet, incoming, running, yields);
    if (ending.error_code === 'lease_lost') {
      // Another worker may have the message and publishes the result.
      ledger.forget(running);
      this.grants.release(identity);
      for (const receipt of running.receipts) receipt.nak();
      return;
    }
    const result = this.result(packet, ending, performance.now() - startedMs, yields, incoming.trace);
    await this.publish(result);
    // After a crash here, the message is redelivered, and the repeated result is a no-op.
    ledger.finish(running, result, Date.now());
    this.acknowledge(running.receipts);
  }

  private acknowledge(receipts: readonly Receipt[]): void {
    this.acks.add(() => {
      try {
        for (const receipt of receipts) receipt.ack();
      } catch (error) {
        this.deps.settings.onError(error, 'acknowledging a job');
      }
    });
  }

  private async perform(
    packet: TypedPacket<'job_request'>,
    { bytes, deliveries }: Pick<Incoming, 'bytes' | 'deliveries'>,
    running: Running,
    yields: Yields,
  ): Promise<Ending> {
    const { abort } = running;
    const deadlineMs = packet.body.budget?.deadline_ms ?? 0;
    const late = () => abort.abort(new JobAborted('deadline', `deadline of ${deadlineMs} ms expired`));
    const deadline = deadlineMs > 0 && deadlineMs < longestTimerMs ? this.deadlines.add(deadlineMs, late) : undefined;
    const progress = this.buildProgress(packet);
    const shown = this.buildOutput(packet);
    try {
      this.admit(packet, deliveries, late);
      const grant = this.grants.use(bytes, packet.body, running.identity, Date.now());
      const reports = { progress, shown, grant };
      return { status: 'SUCCEEDED', ...(await this.work(packet, running, deadlineMs, reports, yields)) };
    } catch (error) {
      return toFailure(abort.reason ?? error);
    } finally {
      if (deadline) this.deadlines.remove(deadline);
      progress.flush();
      shown.flush();
    }
  }

  /** @throws when the job must not start */
  private admit({ body, created_at_us }: TypedPacket<'job_request'>, deliveries: number, late: () => void): void {
    const { maxDeliveries } = this.deps.settings;
    if (deliveries > maxDeliveries) {
      const message = `no result after ${maxDeliveries} deliveries`;
      throw new FatalError(message, { code: 'deliveries_exhausted' });
    }
    const deadlineMs = body.budget?.deadline_ms ?? 0;
    if (deadlineMs > 0 && created_at_us > 0 && Date.now() - created_at_us / 1_000 > deadlineMs) late();
  }

  private async work(
    { body: request, trace_id }: TypedPacket<'job_request'>,
    { abort, identity }: Running,
    deadlineMs: number,
    { progress, shown, grant }: { progress: ProgressReports; shown: JobOutput; grant: GrantFacts | undefined },
    yields: Yields,
  ): Promise<Output> {
    const { settings, data, leaseRenewer } = this.deps;
    abort.throwIfAborted();
    const handler = bestMatch(settings.topics, request.topic)?.value;
    if (!handler) {
      const errorCode = WireErrorCode.ERROR_CODE_WORKER_UNAVAILABLE;
      throw new RetryableError(`this worker does not serve ${request.topic}`, { code: 'topic_not_served', errorCode });
    }
    const store = lazy(() => data.of(request, abort));
    const input = await readInput(withApprovedInput(request, grant), store);
    const effects = new Effects(request, abort.signal);
    const job = buildJob(request, identity, trace_id, input, {
      abort,
      deadline: deadlineMs > 0 ? new Date(Date.now() + deadlineMs) : undefined,
      progress: (percent, message) => progress.report(percent, message),
      log: (message, level = 'info') => shown.log(message, level),
      stream: (text) => shown.write(text),
      effect: (key, make) => effects.run(key, make),
      cost: (usd) => {
        if (!Number.isFinite(usd) || usd < 0)
          throw new RangeError(`a cost must be a number from 0, in US dollars: ${usd}`);
        yields.costUsd = (yields.costUsd ?? 0) + usd;
      },
      writeArtifact: async (bytes, options) => {
        const pointer = await store().writeArtifact(bytes, {
          ...options,
          // Withheld together with the job's output if that is quarantined.
          labels: { ...options.labels, job_id: request.job_id },
        });
        yields.artifacts.push(pointer);
        return pointer;
      },
    });
    abort.throwIfAborted();
    const value = await abort.withinGrace(Promise.resolve(handler(job)), settings.graceMs);
    // A result that finished during shutdown counts; one that was cancelled, late or reassigned does not.
    leaseRenewer.check();
    if (abort.reason && abort.reason.abortedBy !== 'shutdown') throw abort.reason;
    return this.output(request, value, store);
  }

  /** Puts the body into the result message when the dispatch permits it and the body is small; else stores it. */
  private async output(request: JobRequest, value: unknown, store: () => JobData): Promise<Output> {
    if (value === undefined) return {};
    const body = value instanceof Uint8Array ? value : JSON.stringify(value);
    const { job_id, result_ticket } = request;
    if (result_ticket.length > 0 && isInlineSize(body) && this.deps.ledger.hasRoomFor(maxInlineBytes)) {
      return { result_ptr: `redis://res:${job_id}`, inline_result: Buffer.from(body), result_ticket };
    }
    return { result_ptr: await store().writeResult(body) };
  }

  private buildProgress({ body, trace_id }: TypedPacket<'job_request'>): ProgressReports {
    const { link } = this.deps;
    const { job_id, env } = body;
    return new ProgressReports(({ percent, message }) => {
      const status = toJobStatus('RUNNING');
      const report = { job_id, step_id: env['step_id'], percent, message, status, ...buildEcho(body) };
      if (!link.connection.isClosed())
        link.send(subjects.jobProgress.name, jobProgressPacket(link.head(trace_id), report));
    });
  }

  private buildOutput({ body, trace_id }: TypedPacket<'job_request'>): JobOutput {
    const { link } = this.deps;
    const { job_id, env } = body;
    return new JobOutput((report) => {
      const status = toJobStatus('RUNNING');
      const draft = { job_id, step_id: env['step_id'], status, ...report, ...buildEcho(body) };
      link.send(subjects.jobStream.name, jobProgressPacket(link.head(trace_id), draft));
    });
  }

  private result(
    { body, trace_id }: TypedPacket<'job_request'>,
    { status: name, ...rest }: Ending,
    elapsedMs: number,
    { artifacts: artifact_ptrs, costUsd }: Yields,
    trace: TraceHeaders,
  ): StoredResult {
    const { job_id } = body;
    const { name: subject } = subjects.jobResult;
    const status = toJobStatus(name);
    const echo = buildEcho(body);
    const result = encodeJobResult(this.deps.link.head(trace_id), {
      job_id,
      worker_id: this.deps.settings.id,
      status,
      execution_ms: Math.round(elapsedMs),
      artifact_ptrs,
      ...echo,
      ...(costUsd !== undefined && { cost_usd: costUsd }),
      ...rest,
    });
    const bytes = this.deps.link.trust.seal(result);
    const messageId = jobResultMessageId(subject, job_id, echo.dispatch?.attempt ?? 0, status);
    return { subject, messageId, bytes, trace, jobId: job_id };
  }

  /** Retries until the result is stored, since a lost result repeats the whole job. */
  private async publish(result: StoredResult): Promise<void> {
    const { link, settings } = this.deps;
    for (;;) {
      try {
        return await link.store(result);
      } catch (error) {
        if (link.connection.isClosed()) throw error;
        settings.onError(error, `publishing the result of ${result.jobId}`);
        await new Promise((resume) => setTimeout(resume, publishRetryMs));
      }
    }
  }
}

/** The input document: from the message, else from its pointer. */
async function readInput(request: JobRequest, store: () => JobData): Promise<unknown> {
  const { inline_input: bytes, context_ref: ref } = request;
  if (bytes.length > 0) return parseContext(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), ref);
  const pointer = getContextPointer(request);
  return pointer ? store().readContext(pointer, ref) : undefined;
}

/** An empty body is stored: in a message it is the same as none. */
function isInlineSize(body: string | Uint8Array): boolean {
  if (body.length === 0 || body.length > maxInlineBytes) return false;
  return typeof body !== 'string' || Buffer.byteLength(body) <= maxInlineBytes;
}

function lazy<T>(create: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= create());
}
