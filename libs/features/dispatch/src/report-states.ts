/** Reason a report was dropped. */
export type DroppedReport = 'rate' | 'size' | 'not_holder';

/** What a worker may send about one job, and about all of its jobs. */
export const reportLimits = {
  job: { perSecond: 64 * 1024, burst: 256 * 1024 },
  worker: { perSecond: 1024 * 1024, burst: 4 * 1024 * 1024 },
  /** Cost of a report besides its size. */
  reportBytes: 1_024,
} as const;

const MAX_STATES = 10_000;
/** Characters before a part of the output that are scanned with it, so that a match across parts is found. */
export const TAIL_CHARS = 512;

/** A dispatch of a job whose worker reports log lines or partial output. */
export interface ReportState {
  /** Last characters of the partial output, as the worker sent them. */
  tail: string;
  /** Output policy refused a part: the rest is withheld too. */
  isWithheld: boolean;
  /** The report that is processed now, so that reports keep their order. */
  last: Promise<unknown>;
}

interface Allowance {
  bytes: number;
  atMs: number;
}

/** State of running jobs that report, in this process only: after a restart a job begins with a new one. */
export class ReportStates {
  private readonly states = new Map<string, ReportState>();
  /** Of reports that are processed now, whose senders may not hold the jobs that they name. */
  private readonly unconfirmed = new Map<string, ReportState>();
  private readonly allowances = new Map<string, Allowance>();

  constructor(private readonly clock: { nowMs(): number }) {}

  /**
   * Processes a report after the earlier ones of its sender about this dispatch. The state is kept only if the sender holds the
   * job, so that a worker that names jobs of others displaces none of their states.
   *
   * @param process returns whether the sender holds the job
   */
  async inOrder(
    [senderId, jobId, dispatchId]: readonly [senderId: string, jobId: string, dispatchId: string],
    process: (state: ReportState) => Promise<boolean>,
  ): Promise<boolean> {
    const key = JSON.stringify([senderId, jobId, dispatchId]);
    const known = this.states.get(key) ?? this.unconfirmed.get(key);
    const state = known ?? { tail: '', isWithheld: false, last: Promise.resolve() };
    if (!this.states.has(key)) this.unconfirmed.set(key, state);
    const work = state.last.then(() => process(state));
    // The next report is processed also after a failed one.
    const last = work.catch(() => undefined);
    state.last = last;
    try {
      const isHolder = await work;
      if (isHolder) keepNewest(this.states, key, state);
      return isHolder;
    } finally {
      if (state.last === last || this.states.has(key)) this.unconfirmed.delete(key);
    }
  }

  /** Whether a worker may send a report of this size now. */
  allow(workerId: string, jobId: string, bytes: number): boolean {
    const cost = bytes + reportLimits.reportBytes;
    const ofWorker = this.allowance(JSON.stringify([workerId]), reportLimits.worker);
    const ofJob = this.allowance(JSON.stringify([workerId, jobId]), reportLimits.job);
    if (ofWorker.bytes < cost || ofJob.bytes < cost) return false;
    ofWorker.bytes -= cost;
    ofJob.bytes -= cost;
    return true;
  }

  private allowance(key: string, { perSecond, burst }: { perSecond: number; burst: number }): Allowance {
    const nowMs = this.clock.nowMs();
    const allowance = this.allowances.get(key) ?? { bytes: burst, atMs: nowMs };
    const earned = (Math.max(0, nowMs - allowance.atMs) / 1_000) * perSecond;
    allowance.bytes = Math.min(burst, allowance.bytes + earned);
    allowance.atMs = nowMs;
    return keepNewest(this.allowances, key, allowance);
  }
}

function keepNewest<T>(map: Map<string, T>, key: string, value: T): T {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MAX_STATES && oldest !== undefined) map.delete(oldest);
  return value;
}
