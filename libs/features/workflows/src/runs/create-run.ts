import { AppError, tierLimit } from '@svc/contract';
import { CompileCache } from '@svc/schema';
import type { CreateOutcome, Fence, RunCreation, StartFacts, WorkflowVersion } from '@svc/store';
import { newRun, type RerunSeed, type NewRunFields, type RunState, type WorkflowDefinition } from '@svc/workflow';
import { checkMemoryAccess, memoryClaim } from '@svc/jobs';
import { numberAt } from '@svc/settings';
import { parseDefinition } from '../definitions/workflow-view';
import { definitionAuthor } from './definition-author';
import { planFirstTurn } from './first-turn';
import { toHeader, newFields } from './run-codec';
import type { StartRunDeps } from './run-deps';
import { saveAdmitted, settleJobs } from './turn-jobs';

export interface NewRun {
  input: Record<string, unknown>;
  /** Generated when absent; an existing run with this id is returned. */
  id?: string;
  /** Caller, labels and metadata of the run. */
  of: NewRunFields;
  /** State that a rerun copies. */
  seed?: RerunSeed;
  idempotency?: { key: string; fingerprint: string };
  /** Parent run. Child runs are exempt from concurrency limits: the parent is counted, and waits for them. */
  partOf?: Fence;
}

export interface CreatedRun {
  runId: string;
  /** The run was created by an earlier start with this idempotency key. */
  replayed: boolean;
}

/** A version of a workflow of which a run is started. */
export interface StartedVersion extends Pick<WorkflowVersion, 'id' | 'tenant' | 'version' | 'written_at' | 'author'> {
  /** Of the cache, if the first turn is planned here: prepared data is cached by the object. */
  definition: WorkflowDefinition;
  /** Read with the version. Absent: an engine takes the first turn. */
  facts?: Pick<StartFacts, 'nowUs' | 'active'>;
}

export const toStartedVersion = (version: WorkflowVersion): StartedVersion => ({
  ...version,
  definition: parseDefinition(version),
});

const compiled = new CompileCache();

/**
 * Creates a run of a version of a workflow, in one atomic write, with its first turn if that only starts jobs.
 * See docs/reference/workflows.md#runs.
 *
 * @throws input_schema_validation_failed, invalid_memory_id, memory_policy_violation, memory_policy_unreadable,
 *   run_idempotency_conflict, run_not_runnable, tier_limit_exceeded, overloaded, workflow_not_found when it was removed concurrently;
 *   Fenced when the caller no longer owns the parent run
 */
export async function createRun(deps: StartRunDeps, version: StartedVersion, wanted: NewRun): Promise<CreatedRun> {
  const { definition, facts } = version;
  const run = buildRun(deps, version, wanted, checkRunInput(definition, wanted.input));
  const place = { tenant: run.org_id, team: run.team_id, workflow: run.workflow_id };
  const config = await deps.config.at(place);
  const budgets = await deps.config.budgetsAt(place);
  const memoryId = parseMemoryId(run.input);
  checkMemoryAccess(config, memoryId);
  const memory = memoryId === undefined ? undefined : await memoryClaim(deps.config, memoryId);
  const limit = wanted.partOf ? 0 : getTenantLimit(config);
  const allowed = wanted.partOf ? 0 : Math.max(0, deps.maxActiveRuns?.() ?? 0);
  const creation: RunCreation = {
    id: run.id,
    tenant: run.org_id,
    workflow: { id: run.workflow_id, version: version.version },
    ...(run.team_id && { teamId: run.team_id }),
    header: toHeader(run),
    steps: newFields(run),
    events: [],
    start: { kind: 'start', ...(wanted.seed && { seed: wanted.seed }) },
    name: definition.name,
    limits: { tenant: limit, all: allowed },
    ...(wanted.partOf && { fence: wanted.partOf, parentId: wanted.partOf.run }),
    ...(memory && { memory }),
    ...(budgets && { budget: { limit: budgets.nearest.perRunMax, action: budgets.nearest.action } }),
    ...(wanted.idempotency && {
      idempotency: {
        key: wanted.idempotency.key,
        hash: wanted.idempotency.fingerprint,
        answer: run.id,
        ttlSec: deps.settings.idempotencyTtlSec,
      },
    }),
  };
  // A refused start must not count its jobs in velocity windows; the creating script checks again.
  if (facts && limit > 0 && facts.active.tenant >= limit) throw tenantLimit(facts.active.tenant, limit);
  if (facts && allowed > 0 && facts.active.all >= allowed) throw tooManyRuns(facts.active.all, allowed);
  const outcome = await storeRun(deps, version, run, creation);
  switch (outcome.kind) {
    case 'created':
    case 'exists':
      return { runId: run.id, replayed: false };
    case 'replay':
      return { runId: outcome.answer, replayed: true };
    case 'conflict':
    case 'reserved':
      throw new AppError('run_idempotency_conflict');
    case 'memory_taken':
      throw new AppError('memory_policy_violation', { memory_id: memoryId });
    case 'no_workflow':
      throw new AppError('workflow_not_found');
    case 'full':
      if (outcome.of === 'all') throw tooManyRuns(outcome.active, allowed);
      throw tenantLimit(outcome.active, limit);
  }
}

type Stored = Exclude<CreateOutcome, { kind: 'paused' }>;

/** Stores a new run, with its first turn if this process can plan it and there is capacity for its jobs. */
async function storeRun(
  deps: StartRunDeps,
  { definition, facts }: StartedVersion,
  run: RunState,
  creation: RunCreation,
): Promise<Stored> {
  const { firstTurn, admission } = deps;
  const first = facts && firstTurn && (await planFirstTurn(firstTurn, definition, run, facts.nowUs));
  const bytes = Buffer.byteLength(JSON.stringify(run.input));
  return admission.data(run.org_id, bytes, async () => {
    const stored =
      first && (await saveAdmitted(deps, first.jobs, () => deps.store.runs.create({ ...creation, ...first.creation })));
    if (!stored || stored.kind === 'paused') return (await deps.store.runs.create(creation)) as Stored;
    if (stored.kind === 'created') settleJobs(firstTurn, first.jobs, stored.placed);
    return stored;
  });
}

/** Limit on concurrent runs of a tenant; 0 = unlimited. */
function getTenantLimit(config: Record<string, unknown> | undefined): number {
  const own = numberAt(config, 'limits', 'max_concurrent_runs');
  return Math.max(0, own ?? numberAt(config, 'rate_limits', 'concurrent_workflows') ?? 0);
}

const tenantLimit = (current: number, limit: number) =>
  new AppError('run_not_runnable', { current, limit }, { 'Retry-After': '5' });

const tooManyRuns = (current: number, allowed: number) =>
  tierLimit({
    message: `${current} runs are under way and the plan allows ${allowed}`,
    limit: 'max_active_workflows',
    current,
    allowed,
  });

function buildRun({ random, clock }: StartRunDeps, version: StartedVersion, wanted: NewRun, input: RunState['input']) {
  const { id = random.uuid() } = wanted;
  const of = withAuthor(wanted.of, version.author);
  const place = { workflow_id: version.id, workflow_revision: version.version, org_id: version.tenant };
  return { ...newRun({ id, ...place, input, ...of }, clock.nowMs()), workflow_written_at: version.written_at };
}

/** The definition's author is responsible for the run's actions as much as its starter. */
const withAuthor = (of: NewRunFields, author: string): NewRunFields =>
  author === '' ? of : { ...of, metadata: { ...of.metadata, [definitionAuthor]: author } };

/** Normalized `memory_id` of a run's input. @throws invalid_memory_id */
function parseMemoryId(input: Record<string, unknown>): string | undefined {
  const given = input['memory_id'];
  if (given === undefined || given === null || given === '') return undefined;
  const id = typeof given === 'string' ? given.replace(/^mem:/, '').trim() : '';
  if (id === '') throw new AppError('invalid_memory_id');
  return id;
}

/** Adds the defaults of the definition's parameters to the input of a run. */
export function withDefaults(
  { parameters = [] }: Pick<WorkflowDefinition, 'parameters'>,
  given: Record<string, unknown>,
): Record<string, unknown> {
  const input = { ...given };
  for (const { name, default: value } of parameters) {
    if (input[name] === undefined && value !== undefined) input[name] = value;
  }
  return input;
}

/**
 * Adds defaults to the input of a run and validates it. See docs/reference/workflows.md#definitions.
 *
 * @throws input_schema_validation_failed
 */
export function checkRunInput(definition: WorkflowDefinition, given: Record<string, unknown>): Record<string, unknown> {
  const { parameters = [], input_schema: schema } = definition;
  const input = withDefaults(definition, given);
  const missing = parameters.filter(({ name, required }) => required && input[name] === undefined);
  const violations = missing.map(({ name }) => ({ path: `/${name}`, message: 'is required' }));
  if (schema) {
    const outcome = compiled.compile(schema, new Map());
    violations.push(...(outcome.kind === 'compiled' ? outcome.schema.check(input) : []));
  }
  if (violations.length > 0) throw new AppError('input_schema_validation_failed', { violations });
  return input;
}
