import {
  AppError,
  evalLimits,
  type Caller,
  type DecisionVerdict,
  type EvalEntry,
  type EvalInput,
  type EvalVerdict,
  type ExtractionBody,
  type ExtractionView,
} from '@svc/contract';
import type { DecisionLog, LoggedDecision, Placed } from '@svc/governance';
import { canonicalHash } from '@svc/json';
import { compileRegex, regexFault, topicGlob } from '@svc/policy';
import type { Store, StoredRequest } from '@svc/store';
import { setImmediate } from 'node:timers/promises';
import type { EvalDeps } from './eval-deps';
import { InputRedactor } from './redact-input';
import { toRateError } from './start-run';
import { storeDataset } from './write-dataset';

export interface ExtractDeps extends EvalDeps {
  store: EvalDeps['store'] & Pick<Store, 'redis' | 'keys'>;
  decisionLog: Pick<DecisionLog, 'decisions'>;
  /** Time limit of an extraction, ms. */
  extractionTimeoutMs: number;
  onExtracted(outcome: 'stored' | 'dry_run' | 'empty' | 'failed', seconds: number, deduped: number): void;
}

const dayMs = 86_400_000;
const MAX_RANGE_MS = 90 * dayMs;
const pageSize = 500;
/** Decisions that one extraction reads at most. */
const MAX_SCANNED = 100_000;

/** Decisions that are extracted unless others are named. */
const incidents = ['deny', 'require_approval'] as const satisfies readonly DecisionVerdict[];
const verdicts: Readonly<Record<DecisionVerdict, EvalVerdict>> = {
  allow: 'ALLOW',
  deny: 'DENY',
  constrain: 'ALLOW_WITH_CONSTRAINTS',
  require_approval: 'REQUIRE_APPROVAL',
  throttle: 'THROTTLE',
};

/**
 * Stores past decisions of the caller's tenant as a dataset that expects the same decisions. Decisions about equal jobs become
 * one entry. See docs/reference/evals.md#datasets-from-incidents.
 *
 * @throws eval_extraction_invalid, eval_nothing_extracted, eval_extraction_timeout, rate_limited, and the codes of
 *   `storeDataset`
 */
export async function extractDataset(
  deps: ExtractDeps,
  caller: Caller,
  body: ExtractionBody,
): Promise<{ view: ExtractionView; isStored: boolean }> {
  const startedMs = deps.clock.nowMs();
  const seconds = () => (deps.clock.nowMs() - startedMs) / 1_000;
  const filter = toFilter(body, startedMs);
  const waitMs = await deps.evalRuns.takeExtraction(caller.tenant, deps.random.uuid());
  if (waitMs > 0) throw toRateError(waitMs, evalLimits.extractionsPerHour);
  try {
    const extracted = await extract(deps, caller.tenant, filter, startedMs + deps.extractionTimeoutMs);
    if (extracted.entries.length === 0) {
      deps.onExtracted('empty', seconds(), 0);
      throw new AppError('eval_nothing_extracted', { scanned_decisions: extracted.scanned });
    }
    const stored = body.dry_run ? await describeDryRun(deps, caller, body) : await store(deps, caller, body, extracted);
    deps.onExtracted(body.dry_run ? 'dry_run' : 'stored', seconds(), extracted.deduped);
    const { entries, deduped, scanned, warnings } = extracted;
    const counts = { entry_count: entries.length, deduped_count: deduped, scanned_decisions: scanned, warnings };
    return { view: { ...stored, name: body.name, ...counts }, isStored: !body.dry_run };
  } catch (error) {
    if (!(error instanceof AppError && error.errorCode === 'eval_nothing_extracted'))
      deps.onExtracted('failed', seconds(), 0);
    throw error;
  }
}

async function store(deps: ExtractDeps, caller: Caller, { name, description }: ExtractionBody, { entries }: Extracted) {
  const { tenant } = caller;
  const { id, version } = await storeDataset(deps, caller, { tenant, name, version: 0, description, entries });
  return { dataset_id: id, version };
}

const describeDryRun = async ({ datasets }: ExtractDeps, { tenant }: Caller, { name }: ExtractionBody) => ({
  dataset_id: '',
  version: (await datasets.highestVersion(tenant, name)) + 1,
});

interface DecisionFilter {
  fromMs: number;
  toMs: number;
  most: number;
  fits(decision: LoggedDecision): boolean;
}

/** @throws eval_extraction_invalid */
function toFilter(body: ExtractionBody, nowMs: number): DecisionFilter {
  const { since, until: toMs = nowMs, topic, rule_id, agent_id, max_entries } = body;
  const fromMs = since ?? toMs - dayMs;
  if (toMs < fromMs) throw invalid('until', 'until must not be earlier than since');
  if (toMs - fromMs > MAX_RANGE_MS) throw invalid('since', 'the period may have at most 90 days');
  const isOfTopic = topicMatcher(topic);
  const wanted = new Set<DecisionVerdict>(body.verdicts ?? incidents);
  const fits = (one: LoggedDecision) =>
    wanted.has(one.verdict) &&
    (rule_id === undefined || rule_id === '' || one.ruleId === rule_id) &&
    (agent_id === undefined || agent_id === '' || one.agentId === agent_id) &&
    isOfTopic(one.topic);
  return { fromMs, toMs, most: max_entries, fits };
}

const patternMark = 're:';

/** @throws eval_extraction_invalid */
function topicMatcher(topic: string | undefined): (topic: string) => boolean {
  if (topic === undefined || topic === '') return () => true;
  if (!topic.startsWith(patternMark)) {
    const matches = topicGlob(topic);
    return (name) => matches(name.toLowerCase());
  }
  const source = topic.slice(patternMark.length);
  const fault = regexFault(source);
  if (fault) throw invalid('topic', `the regular expression ${fault}`);
  const { regex } = compileRegex(source);
  return (name) => regex.matcher(name).find();
}

const invalid = (field: string, message: string): AppError =>
  new AppError('eval_extraction_invalid', {
    error: message,
    violations: [{ in: 'body', field, path: field, message }],
  });

interface Extracted {
  entries: EvalEntry[];
  deduped: number;
  scanned: number;
  warnings: string[];
}

/** The newest matching decisions as entries. @throws eval_extraction_timeout */
async function extract(
  deps: ExtractDeps,
  tenant: string,
  { fromMs, toMs, most, fits }: DecisionFilter,
  deadlineMs: number,
): Promise<Extracted> {
  const redactor = new InputRedactor();
  const entries = new Map<string, EvalEntry>();
  const result = { deduped: 0, scanned: 0, gone: 0, isCut: false };
  let before: Placed<LoggedDecision>['place'] | undefined;
  for (;;) {
    if (deps.clock.nowMs() > deadlineMs) throw new AppError('eval_extraction_timeout');
    const page = await deps.decisionLog.decisions(tenant, { fromMs, toMs, ...(before && { before }) }, pageSize);
    result.scanned += page.length;
    const matching = page.filter(fits);
    const requests = await readRequests(deps, tenant, matching);
    for (const [i, decision] of matching.entries()) {
      const entry = toEntry(decision, requests[i], redactor, tenant);
      if (entries.has(entry.id)) result.deduped += 1;
      else if (entries.size === most) result.isCut = true;
      else {
        entries.set(entry.id, entry);
        if (!requests[i]) result.gone += 1;
      }
    }
    if (page.length < pageSize || result.isCut) break;
    result.isCut = result.scanned >= MAX_SCANNED;
    if (result.isCut) break;
    before = page.at(-1)?.place;
    await setImmediate();
  }
  const warnings = [
    ...(result.isCut ? [`there are more matching decisions; the newest were used`] : []),
    ...(result.gone > 0
      ? [`${result.gone} entries have no labels and requirements, because their jobs are no longer stored`]
      : []),
  ];
  return { entries: [...entries.values()], deduped: result.deduped, scanned: result.scanned, warnings };
}

/** The requests of jobs that are still stored, in the order of their decisions. */
function readRequests({ store: { redis, keys } }: ExtractDeps, tenant: string, decisions: readonly LoggedDecision[]) {
  return Promise.all(
    decisions.map(async ({ jobId }): Promise<StoredRequest | undefined> => {
      const [owner, request] = await redis.hmget(keys.job(jobId), 'tenant', 'request');
      return owner === tenant && request ? (JSON.parse(request) as StoredRequest) : undefined;
    }),
  );
}

function toEntry(
  decision: LoggedDecision,
  request: StoredRequest | undefined,
  redactor: InputRedactor,
  tenant: string,
): EvalEntry {
  const { topic, ruleId, verdict, jobId, reason } = decision;
  const input = { ...toInput(decision, request, redactor), tenant };
  const facts = {
    topic,
    rule_id: ruleId,
    verdict,
    capabilities: input.capabilities ?? [],
    input: canonicalHash(input),
  };
  return {
    id: `audit-${canonicalHash(facts).slice(0, 16)}`,
    input,
    expected_decision: verdicts[verdict],
    source: 'audit-import',
    source_ref: jobId,
    ...(ruleId && { rule_id: ruleId }),
    ...(reason && { notes: reason.slice(0, maxNoteChars) }),
  };
}

const maxNoteChars = 1_024;

function toInput(decision: LoggedDecision, request: StoredRequest | undefined, redactor: InputRedactor): EvalInput {
  const { topic, agentId, principalId, packId } = decision;
  const capability = request?.capability ?? decision.capability;
  const own = Object.entries(request?.labels ?? {}).filter(([name]) => !name.startsWith('_'));
  return {
    topic,
    ...(agentId && { agent_id: agentId }),
    ...(principalId && { principal_id: principalId }),
    ...(capability && { capability, capabilities: [capability] }),
    risk_tags: [...(request?.risk_tags ?? decision.riskTags)],
    requires: [...(request?.requires ?? [])],
    ...(own.length > 0 && { labels: redactor.labels(Object.fromEntries(own)) }),
    ...(packId && { pack_id: packId }),
  };
}
