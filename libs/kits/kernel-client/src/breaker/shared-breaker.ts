import { keys } from '@svc/store';
import type { Redis } from 'ioredis';
import type { KernelEvents } from '../events';
import type { BreakerStatus } from '../kernel';
import { loadScript } from '../scripts';
import { admit, cooldownMs, freshBreaker, settle, type BreakerRecord } from './breaker';
import { breakerStates, failThreshold } from './breaker.states';

export type Permit = 'normal' | 'probe' | 'refused';

/** Time a read record is cached, so that a healthy kernel does not cost a read per call. */
const believedMs = 500;
/** Longer than the open time, so that an open breaker never expires before it is probed. */
const keepMs = 300_000;
const MAX_TRIES = 8;

/**
 * A breaker shared by all processes. While Redis is unavailable each process uses its local state.
 * See docs/reference/policy.md#kernel.
 */
export class SharedBreaker {
  private known: BreakerRecord = freshBreaker;
  private readAtMs = Number.NEGATIVE_INFINITY;
  private reading: Promise<BreakerRecord> | undefined;
  private readonly key: string;
  private readonly replace: (...args: (string | number)[]) => Promise<unknown>;

  constructor(
    private readonly name: 'input' | 'output',
    private readonly redis: Redis,
    private readonly nowMs: () => number,
    private readonly events: Pick<KernelEvents, 'failed' | 'breakerMoved'>,
  ) {
    this.key = keys.breaker(name === 'input' ? 'safety' : 'safety:output');
    this.replace = loadScript(redis, 'breaker-1');
  }

  /** Requests a permit; the outcome of a permitted call must be reported. */
  async permit(): Promise<Permit> {
    const record = await this.current();
    if (record.state === 'closed') return 'normal';
    if (admit(record, this.nowMs()).kind === 'refused') return 'refused';
    let permit: Permit = 'refused';
    await this.change((latest) => {
      const admission = admit(latest, this.nowMs());
      permit = admission.kind;
      return admission.record;
    });
    return permit;
  }

  async settle(call: 'normal' | 'probe', outcome: 'answered' | 'failed'): Promise<void> {
    const next = (record: BreakerRecord) => settle(record, call, outcome, this.nowMs());
    if (next(this.known) === this.known) return;
    await this.change(next);
  }

  async status(): Promise<BreakerStatus> {
    const record = await this.read();
    return {
      state: record.state,
      failures: record.failures,
      fail_threshold: failThreshold,
      cooldown_remaining_ms: cooldownMs(record, this.nowMs()),
    };
  }

  /** Last known state, without a read. */
  get isOpen(): boolean {
    return admit(this.known, this.nowMs()).kind === 'refused';
  }

  private current(): Promise<BreakerRecord> {
    return this.nowMs() - this.readAtMs < believedMs ? Promise.resolve(this.known) : this.read();
  }

  /** Concurrent callers share one read. */
  private read(): Promise<BreakerRecord> {
    this.reading ??= this.redis
      .hgetall(this.key)
      .then(
        (hash) => this.learn(parseRecord(hash)),
        (error: unknown) => {
          this.events.failed('breaker', error);
          return this.known;
        },
      )
      .finally(() => {
        this.readAtMs = this.nowMs();
        this.reading = undefined;
      });
    return this.reading;
  }

  /** Applies a step to the latest record; recomputed after a lost compare-and-set. */
  private async change(step: (record: BreakerRecord) => BreakerRecord): Promise<void> {
    let record = this.known;
    try {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const next = step(record);
        if (next === record) return;
        const [kind, ...current] = asTexts(await this.replace(this.key, record.revision, keepMs, ...toFields(next)));
        if (kind === 'changed') return void this.learn({ ...next, revision: record.revision + 1 });
        record = this.learn(parseRecord(pairs(current)));
      }
      throw new Error(`lost the compare-and-set on the breaker ${MAX_TRIES} times`);
    } catch (error) {
      this.events.failed('breaker', error);
      this.learn(step(record));
    }
  }

  private learn(record: BreakerRecord): BreakerRecord {
    const before = this.known.state;
    this.known = record;
    this.readAtMs = this.nowMs();
    if (before !== record.state) this.events.breakerMoved(this.name, record.state);
    return record;
  }
}

const toFields = ({ state, failures, sinceMs, probes, successes }: BreakerRecord): (string | number)[] =>
  ['state', state, 'failures', failures, 'since_ms', sinceMs, 'probes', probes, 'successes', successes]; // prettier-ignore

function parseRecord(hash: Record<string, string>): BreakerRecord {
  const state = breakerStates.states.find((known) => known === hash['state']);
  if (!state) return freshBreaker;
  const number = (field: string) => Number(hash[field] ?? 0);
  return {
    state,
    failures: number('failures'),
    sinceMs: number('since_ms'),
    probes: number('probes'),
    successes: number('successes'),
    revision: number('revision'),
  };
}

const asTexts = (answer: unknown): string[] => (Array.isArray(answer) ? answer.map(String) : []);

const pairs = (flat: readonly string[]): Record<string, string> =>
  Object.fromEntries(flat.flatMap((field, i) => (i % 2 === 0 ? [[field, flat[i + 1] ?? ''] as const] : [])));
