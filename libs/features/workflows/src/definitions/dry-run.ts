import type { Caller, DryRunStep, DryRunView } from '@svc/contract';
import type { Kernel } from '@svc/kernel-client';
import {
  defaultExpressionLimits,
  foresee,
  newRun,
  type Outlook,
  type RunState,
  type WorkflowDefinition,
} from '@svc/workflow';
import type { Base } from '@svc/platform';
import type { EffectiveConfig } from '@svc/settings';
import { askAboutJob, toPolicyContent } from '@svc/decision';
import type { TopicDeps } from '@svc/registry';
import { withDefaults } from '../runs/create-run';
import { inputDocument, placeOf, stepRequest } from '../runs/step-jobs';
import { foundOf } from './read-workflows';
import { definitionOf } from './workflow-view';

export interface DryRunDeps extends Pick<Base, 'store' | 'clock'> {
  kernel: Kernel;
  config: EffectiveConfig;
  topics: Pick<TopicDeps, 'registry'>;
}

/** A definition may have thousands of steps, and each is worked out in this process. */
const workOutMs = 500;
const askWithinMs = 10_000;
const atOnce = 16;

/**
 * What policy would say to the jobs of a run with this input, and which steps would run. Nothing is stored, sent or counted.
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
  const workflow = foundOf(await store.workflows.get(caller.scope, id), 'workflow_not_found');
  const definition = definitionOf(workflow);
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
  const outlooks = foresee(definition, run.input, {
    nowMs: startedMs,
    limits: defaultExpressionLimits,
    isSpent: () => clock.nowMs() - startedMs > workOutMs,
  });
  const steps: DryRunStep[] = [];
  for (let i = 0; i < outlooks.length; i += atOnce) {
    const isLate = clock.nowMs() - startedMs > askWithinMs;
    const part = outlooks.slice(i, i + atOnce);
    const asked = part.map(async (outlook) => ({
      ...(isLate ? notAsked(outlook) : await decisionOf(deps, { run, definition }, outlook)),
      ...viewOf(definition, outlook),
    }));
    steps.push(...(await Promise.all(asked)));
  }
  return { workflow_id: workflow.id, steps };
}

type Decided = Pick<DryRunStep, 'decision' | 'reason' | 'rule_id'>;
interface Of {
  run: RunState;
  definition: WorkflowDefinition;
}

const noJob: Decided = { decision: 'N/A', reason: 'non-job step', rule_id: '' };
const notAsked = ({ job }: Outlook): Decided =>
  job ? { decision: 'ERROR', reason: 'the workflow has too many steps to ask about all of them', rule_id: '' } : noJob;

async function decisionOf(deps: DryRunDeps, of: Of, outlook: Outlook): Promise<Decided> {
  const { step, job, items } = outlook;
  if (!job) return noJob;
  const { run, definition } = of;
  if (definition.steps[step]?.policy_gate === 'deny') {
    return { decision: 'DENY', reason: 'policy_gate of the step is deny', rule_id: '' };
  }
  const path = items === undefined ? step : `${step}[0]`;
  const { topic } = job;
  const request = stepRequest(of, { step, path, topic, attempt: 1, priority: 'BATCH' });
  const document = inputDocument(request, run, job.payload, deps.clock.nowMs());
  const asked = { id: `${run.id}:${path}@1`, tenant: run.org_id, topic, request, run: run.id };
  const answer = await askAboutJob(deps, asked, {
    method: 'simulate',
    content: toPolicyContent(document),
    config: await deps.config.at(placeOf(run)),
  });
  if (answer.kind === 'unavailable') return { decision: 'ERROR', reason: answer.error.message, rule_id: '' };
  const { decision, reason, rule_id } = answer.decision;
  return { decision, reason: reason ?? '', rule_id: rule_id ?? '' };
}

function viewOf({ steps }: WorkflowDefinition, outlook: Outlook): Omit<DryRunStep, keyof Decided> {
  const { step, type, runs, why, job, condition, target, items, unresolved, error } = outlook;
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
