import { dispatchEchoLabel, jobStatusName } from '@svc/contract';
import { matchesTopic } from '@svc/routing';
import type { DispatchOptions, Platform, Received, Sent } from './platform';
import { Mismatch, NotApplicable } from './verdict';

/** Topics of the worker that the checks use. */
export interface Topics {
  /** Any job succeeds; its result contains the prompt. */
  echo: string;
  /** Every job fails. */
  fail: string;
  /** A job takes `context.seconds` unless it is cancelled. */
  slow: string;
}
export type TopicUse = keyof Topics;

/** The process of the worker, where the caller may stop it. */
export interface WorkerProcess {
  /** Requests a drain, as SIGTERM does. */
  drain(): void;
  /** Resolves when the process has ended, with how it ended, such as `exit code 1`. */
  readonly ended: Promise<string>;
}

export interface SessionOptions {
  pool: string;
  /** Default: the worker of the pool whose heartbeat arrives first. */
  workerId?: string;
  topics: Topics;
  /** Topics that the caller named, which are used also when no handshake lists them. */
  named: ReadonlySet<TopicUse>;
  process?: WorkerProcess;
  /** Time for the answer to a job. */
  answerMs: number;
  /** Time after which something that did not happen counts as not happening. */
  settleMs: number;
  /** Duration of slow jobs. */
  slowSec: number;
  /** Grace period of cancels. */
  graceSec: number;
  /** Time for the first heartbeat, and then for a handshake unless all topics are named. */
  waitMs: number;
}

const registryTtlMs = 30_000;
/** Three heartbeats for each time after which a worker is lost. */
export const maxHeartbeatGapMs = registryTtlMs / 3;

/**
 * Waits for the worker, and no longer than its process lives.
 *
 * @throws Mismatch when the process has ended
 */
export async function unlessEnded<T>(
  process: WorkerProcess | undefined,
  expected: string,
  waiting: Promise<T>,
): Promise<T> {
  if (!process) return waiting;
  const ended = process.ended.then((how) => {
    throw new Mismatch(expected, `the end of its process: ${how}`);
  });
  return Promise.race([waiting, ended]);
}

/** The worker under test, as the checks use it. */
export class Session {
  /** Cleared for a worker that reports neither the progress of its slow jobs nor its running jobs in time. */
  private reportsRunning = true;

  private constructor(
    readonly platform: Platform,
    readonly options: SessionOptions,
    readonly workerId: string,
  ) {}

  /** Waits for a heartbeat of the pool, and for a handshake if it decides on topics. @throws Mismatch without a heartbeat */
  static async open(platform: Platform, options: SessionOptions): Promise<Session> {
    const find = () =>
      platform.received.find(
        (packet) =>
          packet.kind === 'heartbeat' &&
          packet.body.pool === options.pool &&
          (options.workerId === undefined || packet.body.worker_id === options.workerId),
      );
    const wanted = `a heartbeat of pool ${options.pool} within ${options.waitMs / 1_000} s`;
    const first = await unlessEnded(options.process, wanted, platform.until(find, options.waitMs));
    if (first?.kind !== 'heartbeat') throw new Mismatch(wanted, 'none');
    const { worker_id } = first.body;
    const isEachNamed = Object.keys(options.topics).every((use) => options.named.has(use as TopicUse));
    if (!isEachNamed) {
      const handshake = platform.until(() => platform.from('handshake', worker_id)[0], options.waitMs);
      await unlessEnded(options.process, 'a handshake that lists its topics', handshake);
    }
    return new Session(platform, options, worker_id);
  }

  heartbeats = () => this.platform.from('heartbeat', this.workerId);
  label = (name: string): string => this.heartbeats().at(-1)?.body.labels[name] ?? '';

  /** @throws NotApplicable for workers that do not name the dispatch of their results */
  requireDispatchEcho(): void {
    if (this.label(dispatchEchoLabel) === 'true') return;
    const named = this.platform.from('job_result', this.workerId).some(({ body }) => body.dispatch?.dispatch_id);
    if (!named)
      throw new NotApplicable('its results name no dispatch, so the platform identifies it by worker id alone');
  }

  /** @throws NotApplicable when the worker does not serve it */
  topic(use: TopicUse): string {
    const topic = this.options.topics[use];
    if (this.options.named.has(use)) return topic;
    const ready = this.platform.from('handshake', this.workerId).flatMap(({ body }) => body.ready_topics);
    if (ready.some((pattern) => matchesTopic(pattern, topic))) return topic;
    throw new NotApplicable(`no handshake lists the topic ${topic}; name another with --${use}-topic`);
  }

  dispatch = (use: TopicUse, options: Omit<DispatchOptions, 'topic'> = {}): Promise<Sent> =>
    this.platform.dispatch(this.workerId, { topic: this.topic(use), ...options });

  /** @param seconds duration of the job */
  dispatchSlow = (seconds = this.options.slowSec, options: Omit<DispatchOptions, 'topic'> = {}): Promise<Sent> =>
    this.dispatch('slow', { input: { prompt: 'slow', context: { seconds } }, ...options });

  /** The first result of the dispatch. @throws Mismatch without one */
  async result(sent: Sent, withinMs = this.options.answerMs): Promise<Received<'job_result'>> {
    const result = await this.findResult(sent, withinMs);
    if (!result) throw new Mismatch(`a result within ${withinMs / 1_000} s`, 'none');
    return result;
  }

  findResult = (sent: Sent, withinMs: number): Promise<Received<'job_result'> | undefined> =>
    this.platform.until(() => this.platform.results(sent)[0], withinMs);

  /** @throws Mismatch unless the dispatch succeeds */
  async succeeded(sent: Sent, withinMs?: number): Promise<Received<'job_result'>> {
    const result = await this.result(sent, withinMs);
    const status = jobStatusName(result.body.status);
    if (status === 'SUCCEEDED') return result;
    throw new Mismatch('SUCCEEDED', `${status} ${result.body.error_code}: ${result.body.error_message}`);
  }

  /** @throws Mismatch when the dispatch succeeds within the settle time */
  async notExecuted(sent: Sent, expected: string): Promise<void> {
    const result = await this.findResult(sent, this.options.settleMs);
    if (result && jobStatusName(result.body.status) === 'SUCCEEDED') throw new Mismatch(expected, 'SUCCEEDED');
  }

  /**
   * Dispatches a slow job, and waits until the worker reports that it runs the job. For a worker that reports nothing, waits
   * for the settle time.
   *
   * @param seconds duration of the job, longer than the settle time
   */
  async startSlow(seconds: number, options?: Omit<DispatchOptions, 'topic'>): Promise<Sent> {
    const { answerMs, settleMs } = this.options;
    const sent = await this.dispatchSlow(seconds, options);
    const { job_id: jobId } = sent.request;
    const find = () =>
      this.platform.received.find(
        ({ kind, body }) =>
          (kind === 'job_progress' && 'percent' in body && body.job_id === jobId) ||
          (kind === 'heartbeat' && 'running_jobs' in body && body.running_jobs.includes(jobId)),
      ) ?? this.platform.results(sent)[0];
    const report = await this.platform.until(find, this.reportsRunning ? answerMs : settleMs);
    if (!this.reportsRunning || (report && report.kind !== 'job_result')) return sent;
    this.reportsRunning = false;
    // The job has ended before any report: another one is still running after the settle time.
    return report ? this.startSlow(seconds, options) : sent;
  }

  /** Waits until a further job has ended, so that the worker has received every earlier dispatch, and for the settle time. */
  async settle(use: 'echo' | 'slow' = 'echo'): Promise<void> {
    const { answerMs, settleMs, slowSec } = this.options;
    // A worker with a single slot may have to run two slow jobs before this one.
    if (use === 'slow') await this.result(await this.dispatchSlow(), answerMs + 3_000 * slowSec);
    else await this.result(await this.dispatch(use));
    await new Promise((resume) => setTimeout(resume, settleMs));
  }
}
