import { evalLimits, type ChosenPolicyView, type EvalSummaryView, type ComparisonCounts } from '@svc/contract';
import { evalRunStates, type EvalRunEvent, type EvalRunStatus } from '@svc/lifecycle';
import type { EntryOutcome } from '@svc/policy';
import { auditOnly, type KeptSnapshots, runScript, type Store } from '@svc/store';
import { compressJson, decompressJson } from './compressed-json';

type Audit = NonNullable<KeptSnapshots['audit']>;

/** A run evaluates one policy, a comparison two. */
export type RunKind = 'run' | 'comparison';

/** A policy to evaluate; without a candidate the one in effect. */
export interface ChosenPolicy {
  view: ChosenPolicyView;
  candidate?: { id: string; content: string };
}

export interface RunHead {
  dataset_name: string;
  dataset_version: number;
  /** Entries to evaluate. */
  total: number;
  policies: ChosenPolicyView[];
}
export interface StoredRun extends RunHead {
  id: string;
  tenant: string;
  kind: RunKind;
  dataset: string;
  status: EvalRunStatus;
  evaluated: number;
  startedUs: number;
  completedUs?: number;
  snapshots?: string[];
  summary?: EvalSummaryView;
  counts?: ComparisonCounts;
  error?: string;
}
/** The outcomes of a policy, by position of the entry in the dataset. */
export interface PolicyOutcomes {
  snapshot: string;
  outcomes: EntryOutcome[];
}

export interface RunStart {
  id: string;
  tenant: string;
  kind: RunKind;
  dataset: string;
  head: RunHead;
  policies: ChosenPolicy[];
  /** Evaluated by a processor; otherwise by the caller. */
  queued: boolean;
  audit: Audit;
}
export type RunStartOutcome =
  { kind: 'started'; startedUs: number } | { kind: 'limited'; waitMs: number } | { kind: 'missing' | 'busy' | 'full' };
export type RunMoveOutcome = 'moved' | 'refused' | 'busy' | 'full' | 'expired' | 'missing';

/** Time for which a run may hold its dataset. One in a request is bounded by the time limit of the request. */
const lockMs = { queued: 1_800_000, inRequest: 120_000 };
const stagedMs = 600_000;
const pageSize = 200;

/** Runs of evaluation datasets, and their results. See docs/reference/evals.md#runs. */
export class EvalRunRepository {
  /** @param keepMs retention of runs. SVC_EVAL_RUN_TTL_SECONDS */
  constructor(
    private readonly store: Pick<Store, 'redis' | 'keys'>,
    readonly keepMs: number,
    private readonly maxBytes: number = evalLimits.storedBytes,
  ) {}

  async start({ id, tenant, kind, dataset, head, policies, queued, audit }: RunStart): Promise<RunStartOutcome> {
    const { redis, keys } = this.store;
    const request = {
      ...{ tenant, dataset, id, kind, queued },
      status: queued ? 'pending' : 'running',
      lock_ms: queued ? lockMs.queued : lockMs.inRequest,
      ...{ max_starts: evalLimits.runsPerHour, keep_ms: this.keepMs, max_bytes: this.maxBytes },
    };
    const texts = [JSON.stringify(request), JSON.stringify(head), queued ? JSON.stringify(policies) : '[]'];
    const reply = await runScript(redis, 'startEvalRun', keys.evalRun(id), ...texts, ...auditOnly(audit));
    const [outcome, detail] = reply as string[];
    if (outcome === 'started') return { kind: outcome, startedUs: Number(detail) };
    if (outcome === 'limited') return { kind: outcome, waitMs: Number(detail) };
    return { kind: outcome === 'busy' || outcome === 'full' ? outcome : 'missing' };
  }

  /** Takes one of the extractions that a tenant has per hour. @returns ms until the next one, 0 = taken */
  async takeExtraction(tenant: string, id: string): Promise<number> {
    const { redis, keys } = this.store;
    const starts = keys.evalStarts('extract', tenant);
    const reply = await runScript(redis, 'takeEvalStart', starts, id, evalLimits.extractionsPerHour);
    const [outcome, waitMs] = reply as string[];
    return outcome === 'limited' ? Number(waitMs) : 0;
  }

  async load(id: string): Promise<StoredRun | undefined> {
    const { redis, keys } = this.store;
    return parseRun(id, await redis.hgetall(keys.evalRun(id)));
  }

  /** The policies of a queued run; undefined after its end. */
  async policies(id: string): Promise<ChosenPolicy[] | undefined> {
    const text = await this.store.redis.hget(this.store.keys.evalRun(id), 'policies');
    return text ? (JSON.parse(text) as ChosenPolicy[]) : undefined;
  }

  /** Runs of a dataset, newest first, from batches of 200. Runs that have expired are left out. */
  async *newestFirst(
    dataset: string,
    kind: RunKind,
    range: { fromUs: number; toUs: number },
  ): AsyncGenerator<StoredRun> {
    const { redis, keys } = this.store;
    let end = Number.isFinite(range.toUs) ? String(range.toUs) : '+inf';
    for (;;) {
      const flat = await redis.zrevrangebyscore(
        keys.evalRunsOf(dataset), end, String(range.fromUs), 'WITHSCORES', 'LIMIT', 0, pageSize,
      ); // prettier-ignore
      const ids = flat.flatMap((member, i) =>
        i % 2 === 0 && member.startsWith(`${kind}:`) ? [member.slice(kind.length + 1)] : [],
      );
      for (const run of await Promise.all(ids.map((id) => this.load(id)))) if (run) yield run;
      if (flat.length < 2 * pageSize) return;
      end = `(${String(flat.at(-1))}`;
    }
  }

  /** Moves a run along the table of its states. Safe to repeat: a second end is refused. */
  async move(
    id: string,
    event: Exclude<EvalRunEvent, 'complete'>,
    set: Record<string, string> = {},
  ): Promise<RunMoveOutcome> {
    return this.apply(id, event, {}, set);
  }

  /** Ends a run with its result. The result of a process that was overtaken replaces none. */
  async complete(
    id: string,
    attempt: string,
    results: PolicyOutcomes[],
    set: Record<string, string>,
  ): Promise<RunMoveOutcome> {
    const { redis, keys } = this.store;
    const bytes = await compressJson(JSON.stringify(results));
    const staged = `${id}:${attempt}`;
    await redis.set(keys.evalResult(staged), bytes, 'PX', stagedMs);
    const outcome = await this.apply(id, 'complete', { staged, bytes: bytes.length, max_bytes: this.maxBytes }, set);
    if (outcome !== 'moved') await redis.del(keys.evalResult(staged));
    return outcome;
  }

  /** Results by policy; undefined unless the run is completed. */
  async results(id: string): Promise<PolicyOutcomes[] | undefined> {
    const bytes = await this.store.redis.getBuffer(this.store.keys.evalResult(id));
    return bytes ? (JSON.parse(await decompressJson(bytes)) as PolicyOutcomes[]) : undefined;
  }

  /** @returns whether there was such a run */
  async remove({ id, tenant, kind }: Pick<StoredRun, 'id' | 'tenant' | 'kind'>, audit: Audit): Promise<boolean> {
    const { redis, keys } = this.store;
    const [outcome] = (await runScript(redis, 'removeEvalRun', keys.evalRun(id), tenant, kind, id, ...auditOnly(audit))) as string[]; // prettier-ignore
    return outcome === 'removed';
  }

  private async apply(
    id: string,
    event: EvalRunEvent,
    more: object,
    set: Record<string, string>,
  ): Promise<RunMoveOutcome> {
    const { redis, keys } = this.store;
    const { from, to } = evalRunStates.moves[event];
    const request = { event, from, to, lock_ms: lockMs.queued, keep_ms: this.keepMs, ...more };
    const reply = await runScript(redis, 'moveEvalRun', keys.evalRun(id), id, JSON.stringify(request), ...Object.entries(set).flat()); // prettier-ignore
    return (reply as [RunMoveOutcome])[0];
  }
}

const parsed = <T>(text: string | undefined): T | undefined => (text ? (JSON.parse(text) as T) : undefined);

function parseRun(id: string, fields: Readonly<Record<string, string>>): StoredRun | undefined {
  const { tenant, kind, dataset, status, head, completed_us, error } = fields;
  if (!tenant || !dataset || !status || !head) return undefined;
  const snapshots = parsed<string[]>(fields['snapshots']);
  const summary = parsed<EvalSummaryView>(fields['summary']);
  const counts = parsed<ComparisonCounts>(fields['counts']);
  return {
    ...(JSON.parse(head) as RunHead),
    ...{ id, tenant, dataset, kind: kind === 'comparison' ? 'comparison' : 'run' },
    status: status as EvalRunStatus,
    evaluated: Number(fields['evaluated']),
    startedUs: Number(fields['started_us']),
    ...(completed_us && { completedUs: Number(completed_us) }),
    ...(snapshots && { snapshots }),
    ...(summary && { summary }),
    ...(counts && { counts }),
    ...(error && { error }),
  };
}
