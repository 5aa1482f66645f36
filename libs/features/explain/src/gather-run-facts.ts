import { AppError, type TenantScope } from '@svc/contract';
import { isRunEnded, isStepEnded } from '@svc/lifecycle';
import type { RunTimer } from '@svc/store';
import { defaultPlanLimits, timerParts, type RunState, type WorkflowDefinition } from '@svc/workflow';
import { runStarterRule } from '@svc/approvals';
import { numberAt } from '@svc/settings';
import { type DefinitionCache, toRunState } from '@svc/workflows';
import { explainJob } from './explain-job';
import { type ExplainDeps, buildJobFacts, gatherSharedFacts } from './gather-job-facts';
import { listStepPlaces, type RunFacts, type StepJob } from './run-facts';

export interface ExplainRunDeps extends ExplainDeps {
  definitions: Pick<DefinitionCache, 'find'>;
}

/** Bounds the jobs explained for one run: each takes several Redis calls. */
const maxJobs = 50;

/** @throws run_not_found, tenant_access_denied */
export async function gatherRunFacts(deps: ExplainRunDeps, scope: TenantScope, id: string): Promise<RunFacts> {
  const { store, clock } = deps;
  const { run, definition } = await loadRun(deps, scope, id);
  const { org_id: tenant, team_id: team, workflow_id: workflow } = run;
  const [position, timers, jobs, config] = await Promise.all([
    store.queuePositions.ofRun(id),
    isRunEnded(run.status) ? [] : store.runs.timers(id),
    explainStepJobs(deps, definition, run),
    deps.config.at({ tenant, team, workflow }),
  ]);
  const needsEngine = position.entry !== 'asleep' && !position.lock;
  return {
    nowMs: clock.nowMs(),
    definition,
    run,
    jobs,
    position,
    // Listing engines scans every key of the store, so only when the run waits for one.
    hasEngine: !needsEngine || (await store.workers.instances(['engine'])).length > 0,
    runStarter: runStarterRule(config),
    maxParallelSteps: numberAt(config, 'resources', 'max_parallel_steps') ?? defaultPlanLimits.maxParallelSteps,
    timers: currentTimers(run, timers),
  };
}

async function loadRun(
  { store, definitions }: ExplainRunDeps,
  scope: TenantScope,
  id: string,
): Promise<{ run: RunState; definition: WorkflowDefinition }> {
  const found = await store.runs.get(scope, id);
  if (found.kind === 'missing') throw new AppError('run_not_found');
  if (found.kind === 'other_tenant') throw new AppError('tenant_access_denied');
  const run = toRunState(found.value);
  const { org_id, workflow_id, workflow_written_at } = run;
  const { workflow_revision = found.value.run.workflow_version } = run;
  const definition = await definitions.find(org_id, workflow_id, workflow_revision, workflow_written_at);
  // The workflow was removed: the run is explained as far as possible without its definition.
  return { run, definition: definition ?? { id: workflow_id, org_id, name: workflow_id, timeout_sec: 0, steps: {} } };
}

/** Explanations of the jobs of live steps; for an ended run, of the last job of each step, with its policy decision. */
async function explainStepJobs(
  deps: ExplainRunDeps,
  definition: WorkflowDefinition,
  run: RunState,
): Promise<Map<string, StepJob>> {
  const isOver = isRunEnded(run.status);
  const places = listStepPlaces(definition, run);
  const live = places.filter(({ record }) => isOver || !isStepEnded(record.status));
  const others = places.filter((place) => !live.includes(place));
  const undoing = run.ending?.undoing;
  const wanted = [...(undoing === undefined ? [] : [undoing]), ...[...live, ...others].flatMap(({ record }) => record.job_id ?? [])]; // prettier-ignore
  const records = await deps.store.index.records(wanted.slice(0, maxJobs));
  const own = records.filter(({ tenant }) => tenant === run.org_id);
  if (own.length === 0) return new Map();
  const shared = await gatherSharedFacts(deps);
  const facts = await Promise.all(own.map((job) => buildJobFacts(deps, job, shared)));
  return new Map(facts.map((one) => [one.job.id, { ...explainJob(one), ...(one.job.safety && { decision: one.job.safety }) }])); // prettier-ignore
}

/** Timers of each step's newest attempt: older ones have no effect. */
function currentTimers(run: RunState, timers: readonly RunTimer[]): Map<string, number> {
  const findAttempt = (path: string): number | undefined => {
    const [, step = path, index] = /^(.+)\[(\d+)\]$/.exec(path) ?? [];
    const record = Object.hasOwn(run.steps, step) ? run.steps[step] : undefined;
    return (index === undefined ? record : record?.children?.[Number(index)])?.attempts;
  };
  return new Map(
    timers.flatMap(({ member, dueMs }): [string, number][] => {
      const parts = timerParts(member);
      if (!parts) return [];
      const { of, purpose } = parts;
      if (of && findAttempt(of.path) !== of.attempt) return [];
      return [[`${of?.path ?? ''}#${purpose}`, dueMs]];
    }),
  );
}
