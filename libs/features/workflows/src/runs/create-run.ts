import { AppError } from '@svc/contract';
import { CompileCache } from '@svc/schema';
import type { Fence, WorkflowVersion } from '@svc/store';
import { newRun, type RerunSeed, type RunGiven, type RunState, type WorkflowDefinition } from '@svc/workflow';
import { checkMemoryAccess, memoryClaim } from '@svc/jobs';
import { numberAt } from '@svc/settings';
import { definitionOf } from '../definitions/workflow-view';
import { headerOf, newFields } from './run-codec';
import type { StartRunDeps } from './run-deps';

export interface NewRun {
  input: Record<string, unknown>;
  /** Made up when absent; a run with this id that is there already is this one. */
  id?: string;
  /** Who asks for it, and why. */
  of: RunGiven;
  /** What a rerun takes over. */
  seed?: RerunSeed;
  idempotency?: { key: string; fingerprint: string };
  /** Started by another run: that one was counted, and a limit on it could never be met from within. */
  partOf?: Fence;
}

export interface CreatedRun {
  runId: string;
  /** An earlier start with this idempotency key got this answer. */
  replayed: boolean;
}

/** Metadata of a run: identity of who wrote the version it runs. */
export const definitionAuthor = 'definition_author';

const compiled = new CompileCache();

/**
 * Creates a run of a version of a workflow, in one atomic write. See docs/reference/workflows.md#runs.
 *
 * @throws input_schema_validation_failed, invalid_memory_id, memory_policy_violation, memory_policy_unreadable,
 *   run_idempotency_conflict, run_not_runnable, tier_limit_exceeded, overloaded, workflow_not_found when it was removed meanwhile;
 *   Fenced when it is part of a run that who asks for it has no more
 */
export async function createRun(deps: StartRunDeps, version: WorkflowVersion, wanted: NewRun): Promise<CreatedRun> {
  const definition = definitionOf(version);
  const run = runOf(deps, version, wanted, checkRunInput(definition, wanted.input));
  const place = { tenant: run.org_id, team: run.team_id, workflow: run.workflow_id };
  const config = await deps.config.at(place);
  const budgets = await deps.config.budgetsAt(place);
  const memoryId = memoryIdOf(run.input);
  checkMemoryAccess(config, memoryId);
  const memory = memoryId === undefined ? undefined : await memoryClaim(deps.config, memoryId);
  const limit = wanted.partOf ? 0 : tenantLimit(config);
  const allowed = wanted.partOf ? 0 : Math.max(0, deps.maxActiveRuns?.() ?? 0);
  const steps = newFields(run);
  const bytes = Buffer.byteLength(JSON.stringify(run.input));
  const outcome = await deps.admission.data(run.org_id, bytes, () =>
    deps.store.runs.create({
      id: run.id,
      tenant: run.org_id,
      workflow: { id: run.workflow_id, version: version.version },
      ...(run.team_id && { teamId: run.team_id }),
      header: headerOf(run),
      steps,
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
    }),
  );
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
      if (outcome.of === 'all') throw tierLimit(outcome.active, allowed);
      throw new AppError('run_not_runnable', { current: outcome.active, limit }, { 'Retry-After': '5' });
  }
}

/** Runs of a tenant that may be under way at once; 0 = any number. */
function tenantLimit(config: Record<string, unknown> | undefined): number {
  const own = numberAt(config, 'limits', 'max_concurrent_runs');
  return Math.max(0, own ?? numberAt(config, 'rate_limits', 'concurrent_workflows') ?? 0);
}

const tierLimit = (current: number, allowed: number) =>
  new AppError('tier_limit_exceeded', {
    message: `${current} runs are under way and the plan allows ${allowed}`,
    limit: 'max_active_workflows',
    current,
    allowed,
    upgrade_url: '',
  });

function runOf({ random, clock }: StartRunDeps, version: WorkflowVersion, wanted: NewRun, input: RunState['input']) {
  const { id = random.uuid() } = wanted;
  const of = withAuthor(wanted.of, version.author);
  const place = { workflow_id: version.id, workflow_revision: version.version, org_id: version.tenant };
  return { ...newRun({ id, ...place, input, ...of }, clock.nowMs()), workflow_written_at: version.written_at };
}

/** What a run does is its definition's author's words as much as its starter's. */
const withAuthor = (of: RunGiven, author: string): RunGiven =>
  author === '' ? of : { ...of, metadata: { ...of.metadata, [definitionAuthor]: author } };

/** `memory_id` of a run's input as it counts. @throws invalid_memory_id */
function memoryIdOf(input: Record<string, unknown>): string | undefined {
  const given = input['memory_id'];
  if (given === undefined || given === null || given === '') return undefined;
  const id = typeof given === 'string' ? given.replace(/^mem:/, '').trim() : '';
  if (id === '') throw new AppError('invalid_memory_id');
  return id;
}

/** Input of a run with the defaults of the definition's parameters. */
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
 * The same, checked against its schema. See docs/reference/workflows.md#definitions.
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
