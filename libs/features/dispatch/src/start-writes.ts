import { subjects, jobCancelPacket } from '@svc/contract';
import type { JobState } from '@svc/lifecycle';
import type { Base, JobBus } from '@svc/platform';
import { dispatchIdentity } from '@svc/decision';
import type { DispatchedJob } from '@svc/store';

/** Jobs that end sooner never need a write of their own: the end records that they were running. */
const START_DELAY_MS = 50;

export interface StartWriteDeps extends Base {
  bus: JobBus;
  senderId: string;
  events: { startFailed(jobId: string, error: unknown): void };
}

interface Expected {
  job: DispatchedJob;
  /** µs */
  startedAt: number;
  confirmed?: Confirmed;
}

/** The bus has confirmed the publish. `seq`: its stream sequence; 0 without JetStream. */
interface Confirmed {
  atMs: number;
  seq: number;
}

/**
 * Writes RUNNING, which means that the bus has confirmed the dispatch, for jobs that are still in flight some time after.
 * The jobs of one turn share one call of Redis. After a crash before the write, the reconciler publishes the dispatch again
 * under the same message id, so the worker executes it once.
 */
export class StartWrites {
  /** By job, in the order of their publish. */
  private readonly expected = new Map<string, Expected>();
  private readonly writing = new Set<Promise<void>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly deps: StartWriteDeps) {}

  /** The dispatch is about to be published. Its end may become known before the confirmation of the bus. */
  expect(job: DispatchedJob, startedAt: number): void {
    this.expected.delete(job.id);
    this.expected.set(job.id, { job, startedAt });
  }

  /** The bus has confirmed the publish. */
  confirm({ id, dispatch_id }: DispatchedJob, seq: number): void {
    const dispatch = this.expected.get(id);
    if (dispatch?.job.dispatch_id !== dispatch_id) return;
    dispatch.confirmed = { atMs: this.deps.clock.nowMs(), seq };
    this.timer ??= setTimeout(() => this.writeDue(), START_DELAY_MS);
  }

  /** The worker has answered the dispatch, or it was not published: nothing is to be written. */
  drop(jobId: string): void {
    this.expected.delete(jobId);
  }

  /** Writes all that are confirmed. Resolves when every write has completed. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writeConfirmed(Infinity);
    await Promise.all(this.writing);
  }

  private writeDue(): void {
    this.timer = undefined;
    const nextMs = this.writeConfirmed(this.deps.clock.nowMs() - START_DELAY_MS);
    if (nextMs === undefined) return;
    this.timer = setTimeout(() => this.writeDue(), Math.max(1, nextMs + START_DELAY_MS - this.deps.clock.nowMs()));
  }

  /** @returns the earliest confirmation after the given time, ms */
  private writeConfirmed(untilMs: number): number | undefined {
    let nextMs: number | undefined;
    for (const [id, { job, startedAt, confirmed }] of this.expected) {
      if (!confirmed) continue;
      if (confirmed.atMs > untilMs) {
        nextMs = Math.min(nextMs ?? Infinity, confirmed.atMs);
        continue;
      }
      this.expected.delete(id);
      this.write(job, startedAt, confirmed);
    }
    return nextMs;
  }

  private write(job: DispatchedJob, startedAt: number, confirmed: Confirmed): void {
    const written = this.writeStart(job, startedAt, confirmed).catch((error: unknown) => {
      this.deps.events.startFailed(job.id, error);
    });
    this.writing.add(written);
    void written.then(() => this.writing.delete(written));
  }

  private async writeStart(job: DispatchedJob, startedAt: number, { atMs, seq }: Confirmed): Promise<void> {
    const outcome = await this.deps.store.jobs.move('*', job.id, 'start', {
      dispatchId: job.dispatch_id,
      set: { started_at: startedAt, dispatch_seq: seq },
    });
    if (outcome.kind === 'refused' && isTakenBack(outcome.state)) await this.repeatCancel(job, atMs);
  }

  /** A job that was cancelled or preempted before the bus had its dispatch: the cancel reached the worker before the job. */
  private async repeatCancel(job: DispatchedJob, confirmedAtMs: number): Promise<void> {
    const { store, bus, senderId, clock } = this.deps;
    const last = (await store.jobs.events(job.id)).at(-1);
    if (!last || !takenBackBy.includes(last.event) || last.at > confirmedAtMs * 1_000) return;
    const head = { trace_id: job.trace_id, sender_id: senderId, nowUs: clock.nowUs() };
    const cancel = {
      job_id: job.id,
      reason: 'taken back before it arrived',
      requested_by: senderId,
      dispatch: dispatchIdentity(job),
    };
    await bus.publish(subjects.jobCancel.name, jobCancelPacket(head, cancel));
  }
}

const takenBack: readonly JobState[] = ['CANCELLED', 'TIMEOUT', 'RETRYING'];

/** Whether a job in this state may have been taken back from its worker, which is then notified by a cancel. */
export const isTakenBack = (state: JobState | undefined): boolean => state !== undefined && takenBack.includes(state);

const takenBackBy: readonly string[] = ['cancel', 'timeOut', 'preempt'];
