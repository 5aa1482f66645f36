import type { Caller, DryRunStep, DryRunView } from '@svc/contract';
import type { Kernel } from '@svc/kernel-client';
import {
  defaultExpressionLimits,
  simulateRun,
  newRun,
  type StepForecast,
  type RunState,
  type WorkflowDefinition,
} from '@svc/workflow';
import type { Base } from '@svc/platform';
import type { EffectiveConfig } from '@svc/settings';
import { askAboutJob, toPolicyContent } from '@svc/decision';
import type { TopicDeps } from '@svc/registry';
import { withDefaults } from '../runs/create-run';
import { toConfigScope } from '../runs/accept-job';
import { inputDocument, stepRequest } from '../runs/step-jobs';
import { requireFound } from './read-workflows';
import { parseDefinition } from './workflow-view';

export interface DryRunDeps extends Pick<Base, 'store' | 'clock'> {
  kernel: Kernel;
  config: EffectiveConfig;
  topics: Pick<TopicDeps, 'registry'>;
}

/** Bounds the synchronous evaluation: a definition may have thousands of steps. */
const simulationTimeoutMs = 500;
const policyPhaseTimeoutMs = 10_000;
const maxConcurrency = 16;

/**
 * Simulates a run with this input: the steps that would run and the policy decision on each job. Nothing is stored,
 * published or counted.
 * See docs/reference/workflows.md#dry-run.
 *
 * @throws workflow_not_found, tenant_access_denied
 */
export async function dryRunWorkflow(
  deps: DryRunDeps,
  caller: Caller,
  id: string,
  { input, environment }: { input: Record<string, unknown>; environment: string },
): Promise<DryRunView> {
  const { store, clock } = deps;
  const workflow = requireFound(await store.workflows.get(caller.scope, id), 'workflow_not_found');
  const definition = parseDefinition(workflow);
  const startedMs = clock.nowMs();
  const run = newRun(
    {
      id: `dry-run-${workflow.version}`,
      workflow_id: workflow.id,
      org_id: workflow.tenant,
      input: withDefaults(definition, input),
      triggered_by: caller.principalId,
      ...(definition.team_id && { team_id: definition.team_id }),
      ...(environment && { labels: { environment } }),
    },
    startedMs,
  );
  const forecasts = simulateRun(definition, run.input, {
    nowMs: startedMs,
    limits: defaultExpressionLimits,
    isSpent: () => clock.nowMs() - startedMs > simulationTimeoutMs,
  });
  const steps: DryRunStep[] = [];
  for (let i = 0; i < forecasts.length; i += maxConcurrency) {
    const isLate = clock.nowMs() - startedMs > policyPhaseTimeoutMs;
    const part = forecasts.slice(i, i + maxConcurrency);
    const results = part.map(async (forecast) => ({
      ...(isLate ? notEvaluated(forecast) : await evaluatePolicy(deps, { run, definition }, forecast)),
      ...toView(definition, forecast),
    }));
    steps.push(...(await Promise.all(results)));
  }
  return { workflow_id: workflow.id, steps };
}

type PolicyFields = Pick<DryRunStep, 'decision' | 'reason' | 'rule_id'>;
interface SimulatedRun {
  run: RunState;
  definition: WorkflowDefinition;
}

const noJob: PolicyFields = { decision: 'N/A', reason: 'non-job step', rule_id: '' };
const notEvaluated = ({ job }: StepForecast): PolicyFields =>
  job ? { decision: 'ERROR', reason: 'the workflow has too many steps to ask about all of them', rule_id: '' } : noJob;

async function evaluatePolicy(
  deps: DryRunDeps,
  simulated: SimulatedRun,
  forecast: StepForecast,
): Promise<PolicyFields> {
  const { step, job, items } = forecast;
  if (!job) return noJob;
  const { run, definition } = simulated;
  if (definition.steps[step]?.policy_gate === 'deny') {
    return { decision: 'DENY', reason: 'policy_gate of the step is deny', rule_id: '' };
  }
  const path = items === undefined ? step : `${step}[0]`;
  const { topic } = job;
  const request = stepRequest(simulated, { step, path, topic, attempt: 1, priority: 'BATCH' });
  const document = inputDocument(request, run, job.payload, deps.clock.nowMs());
  const asked = { id: `${run.id}:${path}@1`, tenant: run.org_id, topic, request, run: run.id };
  const answer = await askAboutJob(deps, asked, {
    method: 'simulate',
    content: toPolicyContent(document),
    config: await deps.config.at(toConfigScope(run)),
  });
  if (answer.kind === 'unavailable') return { decision: 'ERROR', reason: answer.error.message, rule_id: '' };
  const { decision, reason, rule_id } = answer.decision;
  return { decision, reason: reason ?? '', rule_id: rule_id ?? '' };
}

function toView({ steps }: WorkflowDefinition, forecast: StepForecast): Omit<DryRunStep, keyof PolicyFields> {
  const { step, type, runs, why, job, condition, target, items, unresolved, error } = forecast;
  return {
    step_id: step,
    step_name: steps[step]?.name ?? '',
    step_type: type,
    would_run: runs,
    ...(why !== undefined && { why }),
    ...(job && { topic: job.topic }),
    ...(condition !== undefined && { condition }),
    ...(target !== undefined && { target_step: target }),
    ...(items !== undefined && { items }),
    ...(unresolved.length > 0 && { unresolved }),
    ...(error !== undefined && { error }),
  };
}
