import {
  inlineDataLabel,
  type JobResult,
  JobStatus,
  maxInlineBytes,
  ownContextPointer,
  ownResultPointer,
} from '@svc/contract';
import type { InlineData } from '@svc/decision';
import { blankTicket, type ResultTickets } from '@svc/identity';
import { dispatchEndsMs } from '@svc/jobs';
import type { Base } from '@svc/platform';
import { type JobRecord, type ResultJob, toResultJob } from '@svc/store';
import type { InFlightRecords } from './in-flight-records';
import type { WorkerRegistry } from './worker-registry';

/** Tickets with the facts that checking a result needs. They are encrypted: workers must not read policy facts of a job. */
export type JobTickets = ResultTickets<ResultJob>;

export interface InlineDataDeps extends Base {
  registry: Pick<WorkerRegistry, 'announces'>;
  /** Undefined: messages contain no inline data. */
  tickets?: JobTickets | undefined;
  /** Present in processes that handle results: they keep the records of their dispatches, so that tickets need no facts. */
  inFlight?: InFlightRecords;
}

export interface TicketEvents {
  /** A ticket was forged, expired, of another dispatch, or sealed with a key that this process does not have. */
  unopenedTicket(jobId: string, workerId: string): void;
}

/**
 * The input and the ticket that a dispatch contains when its worker supports them. The input stays in the store, and the
 * worker reads it there when it is not in the message. See docs/reference/worker-protocol.md#inline-data.
 *
 * @param job as it is once the worker has it
 * @param context its input document, if this process has it
 */
export async function inlineDataFor(
  deps: InlineDataDeps,
  job: JobRecord & { worker_id: string; dispatch_id: string },
  context: string | undefined,
): Promise<InlineData> {
  const { tickets, registry, clock, inFlight } = deps;
  const nowMs = clock.nowMs();
  if (!tickets || !registry.announces(job.worker_id, inlineDataLabel, nowMs)) return {};
  const bearer = { jobId: job.id, dispatchId: job.dispatch_id, workerId: job.worker_id };
  const ticket = inFlight ? blankTicket : tickets.seal(bearer, toResultJob(job), dispatchEndsMs(job, nowMs));
  const input = await readInput(deps, job, context);
  return { ...(input && { inline_input: input }), ...(ticket && { result_ticket: ticket }) };
}

/** The input document of the job; undefined when it is too large, and for documents that do not belong to the job. */
async function readInput(
  { store }: InlineDataDeps,
  { id, request }: JobRecord,
  context: string | undefined,
): Promise<Uint8Array | undefined> {
  const own = ownContextPointer(id);
  if ((request.context_ptr ?? own) !== own) return undefined;
  // Without the input the worker reads it from the store, so a failed read must not delay the dispatch.
  const read = async () => store.data.context(own, maxInlineBytes + 1).catch(() => null);
  const input = context === undefined ? await read() : Buffer.from(context);
  return input && input.length <= maxInlineBytes ? input : undefined;
}

/** The job that a result names, from its ticket; undefined = read the record. Possibly outdated, like any cached record. */
export function openTicket(
  { tickets, clock, events }: Pick<InlineDataDeps, 'tickets' | 'clock'> & { events: TicketEvents },
  { job_id: jobId, worker_id: workerId, dispatch, result_ticket: sealed }: JobResult,
): ResultJob | undefined {
  if (!tickets || !dispatch || sealed.length <= blankTicket.length) return undefined;
  const job = tickets.open(sealed, { jobId, dispatchId: dispatch.dispatch_id, workerId }, clock.nowMs());
  if (!job) events.unopenedTicket(jobId, workerId);
  return job;
}

const hasInlineBody = ({ status, inline_result: body }: JobResult): boolean =>
  status === JobStatus.JOB_STATUS_SUCCEEDED && body.length > 0;

/** The result with the pointer at which its inline body will be stored. */
export const withInlinePointer = (result: JobResult): JobResult =>
  hasInlineBody(result) && result.result_ptr === ''
    ? { ...result, result_ptr: ownResultPointer(result.job_id) }
    : result;

/** Reason that the inline body of a result cannot be accepted, or undefined. */
export function findInlineFault(result: JobResult): string | undefined {
  if (!hasInlineBody(result)) return undefined;
  const { length } = result.inline_result;
  if (length > maxInlineBytes) return `inline_result has ${length} bytes, at most ${maxInlineBytes} are accepted`;
  // Two bodies: which one is the result would be a guess.
  return result.result_ptr === ownResultPointer(result.job_id)
    ? undefined
    : 'result_ptr must be empty or redis://res:<job id> in a result with inline_result';
}

/** The body within a successful result; undefined when there is none that can be accepted. */
export function getInlineBody(result: JobResult): Buffer | undefined {
  if (!hasInlineBody(result) || findInlineFault(result) !== undefined) return undefined;
  const { buffer, byteOffset, length } = result.inline_result;
  return Buffer.from(buffer, byteOffset, length);
}
