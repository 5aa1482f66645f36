import { dataUrlEnv, limits, type JobRequest } from '@svc/contract';
import { randomBytes } from 'node:crypto';
import { UrlData } from './data-urls';
import { FatalError, NotAppliedError, RetryableError } from './errors';

/** Time for recording what a side effect did, also after its job was aborted. */
const REPORT_TIMEOUT_MS = 20_000;

/**
 * The side effects of one dispatch. Each is recorded before and after it is made, so that no other attempt repeats it.
 * See docs/reference/effects.md.
 */
export class Effects {
  /** Concurrent calls with the same key share one. */
  private readonly running = new Map<string, Promise<unknown>>();

  constructor(
    private readonly request: Pick<JobRequest, 'env'>,
    private readonly signal: AbortSignal,
  ) {}

  /** @throws FatalError `outcome_unknown` when an earlier attempt began it and its outcome is not known */
  run<T>(key: string, make: () => T | Promise<T>): Promise<Awaited<T>> {
    const running = this.running.get(key) ?? this.make(key, make);
    this.running.set(key, running);
    return running as Promise<Awaited<T>>;
  }

  private async make(key: string, make: () => unknown): Promise<unknown> {
    if (key === '' || key.length > limits.effectKeyChars) {
      throw new FatalError(`the key of an effect has 1 to ${limits.effectKeyChars} characters`, {
        code: 'effect_key_invalid',
      });
    }
    if (!this.request.env[dataUrlEnv.effect]) {
      throw new FatalError(`effects cannot be recorded: the dispatch has no ${dataUrlEnv.effect}`, {
        code: 'effects_unavailable',
      });
    }
    const call = randomBytes(16).toString('hex');
    const { state, result } = await this.report(this.signal).reportEffect({ op: 'begin', key, call });
    if (state === 'unknown') {
      const message = `the outcome of the effect ${key} is unknown; an operator must settle it`;
      throw new FatalError(message, { code: 'outcome_unknown' });
    }
    if (state !== 'begun') return result === undefined ? undefined : (JSON.parse(result) as unknown);
    this.signal.throwIfAborted();
    const value = await this.attempt(key, call, make);
    const text = value === undefined ? undefined : JSON.stringify(value);
    const fits = text === undefined || Buffer.byteLength(text) <= limits.effectResultBytes;
    await this.finish({ op: 'finish', key, call, ...(fits && text !== undefined && { result: text }) });
    if (fits) return value;
    throw new FatalError(`the result of the effect ${key} has more than ${limits.effectResultBytes} bytes`, {
      code: 'effect_result_too_large',
    });
  }

  private async attempt(key: string, call: string, make: () => unknown): Promise<unknown> {
    try {
      return await make();
    } catch (error) {
      // Any other error leaves the outcome open: a request that timed out may have been executed.
      if (error instanceof NotAppliedError) await this.finish({ op: 'abandon', key, call });
      throw error;
    }
  }

  private async finish(report: {
    op: 'finish' | 'abandon';
    key: string;
    call: string;
    result?: string;
  }): Promise<void> {
    try {
      await this.report(AbortSignal.timeout(REPORT_TIMEOUT_MS)).reportEffect(report);
    } catch (cause) {
      throw new RetryableError(`the end of the effect ${report.key} was not recorded`, {
        code: 'effect_not_recorded',
        cause,
      });
    }
  }

  private report(signal: AbortSignal): UrlData {
    return new UrlData(this.request.env, signal);
  }
}
