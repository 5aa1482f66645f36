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
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
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
  /** Time for the first heartbeat. */
  waitMs: number;
}

const registryTtlMs = 30_000;
/** Three heartbeats for each time after which a worker is lost. */
export const maxHeartbeatGapMs = registryTtlMs / 3;

/** The worker under test, as the checks use it. */
export class Session {
  private constructor(
    readonly platform: Platform,
    readonly options: SessionOptions,
    readonly workerId: string,
  ) {}

  /** Waits for a heartbeat of the pool. @throws Mismatch without one */
  static async open(platform: Platform, options: SessionOptions): Promise<Session> {
    const find = () =>
      platform.received.find(
        (packet) =>
          packet.kind === 'heartbeat' &&
          packet.body.pool === options.pool &&
          (options.workerId === undefined || packet.body.worker_id === options.workerId),
      );
    const first = await platform.until(find, options.waitMs);
    if (first?.kind !== 'heartbeat') {
      throw new Mismatch(`a heartbeat of pool ${options.pool} within ${options.waitMs / 1_000} s`, 'none');
    }
    return new Session(platform, options, first.body.worker_id);
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

  /** @throws Mismatch when the dispatch succeeds */
  async notExecuted(sent: Sent, expected: string): Promise<void> {
    const result = await this.findResult(sent, this.options.settleMs);
    if (result && jobStatusName(result.body.status) === 'SUCCEEDED') throw new Mismatch(expected, 'SUCCEEDED');
  }

  /** Waits until the worker reports that it runs the job, or for the settle time when it reports nothing. */
  async started({ request }: Sent): Promise<void> {
    const find = () =>
      this.platform.received.find(
        ({ kind, body }) =>
          (kind === 'job_progress' && 'percent' in body && body.job_id === request.job_id) ||
          (kind === 'heartbeat' && 'running_jobs' in body && body.running_jobs.includes(request.job_id)),
      );
    await this.platform.until(find, this.options.settleMs);
  }

  settle = (): Promise<void> => new Promise((resume) => setTimeout(resume, this.options.settleMs));
}
