import { AppError, approvalGateTopic, isGate } from '@svc/contract';
import type { StoredRequest } from '@svc/store';
import {
  excludesStarter,
  type Compensate,
  type Compensation,
  type DispatchJob,
  type OpenGate,
  type RunState,
  type StepDefinition,
  type StepMeta,
} from '@svc/workflow';
import { failureWrites, inheritedLabels, toJobLimits } from '@svc/jobs';
import {
  approvalStateFor,
  askAboutJob,
  inputHash,
  markSecrets,
  type RequiredApproval,
  toPolicyContent,
} from '@svc/decision';
import { acceptJob, type Creation, type NewJob, type OwnedRun, type PlannedRun, toConfigScope } from './accept-job';
import { getRunAgent } from './run-agent';
import type { RunDeps, TurnDeps } from './run-deps';

/**
 * Builds the job of a step; policy decides on it like on any other. See docs/reference/workflows.md#steps.
 *
 * @throws safety_unavailable: retried later
 */
export async function buildStepJob(deps: TurnDeps, owned: PlannedRun, action: DispatchJob): Promise<NewJob> {
  const { run, definition } = owned;
  const request = markSecrets(stepRequest(owned, action), action.input);
  const document = inputDocument(request, run, action.input, owned.nowMs);
  const job = { id: action.jobId, path: action.path, request, document, retried: action.retried === true };
  const isForced = definition.steps[action.step]?.policy_gate === 'require_approval';
  return { ...job, ...(isForced && (await requireApproval(deps, owned, job, policyGate))) };
}

const policyGate: ApprovalTerms = {
  reason: 'policy_gate of the step asks for it',
  approval: {},
  timeLimitMs: ({ settings }) => settings.approvalTtlMs,
};

/** Builds the request of a step's job. */
export function stepRequest(
  source: Pick<PlannedRun, 'run' | 'definition'>,
  action: Pick<DispatchJob, 'step' | 'path' | 'topic' | 'priority' | 'attempt' | 'timeoutMs' | 'limits'>,
): StoredRequest {
  const { run, definition } = source;
  const step = definition.steps[action.step];
  const meta = step?.meta ?? {};
  const limits = action.limits && toJobLimits(action.limits);
  // Compensations and gates have no agent: what it did is undone, and people decide, also when it was stopped.
  const agentId = getRunAgent(run);
  return {
    ...baseRequest(source, action.topic, meta, action.path),
    ...(agentId !== undefined && { agent_id: agentId }),
    priority: toPriority(action.priority),
    ...(step?.worker_id && { adapter_id: step.worker_id }),
    idempotency_key: meta.idempotency_key ?? `wf:${run.id}:${action.path}:${action.attempt}`,
    deadline_ms: action.timeoutMs ?? 0,
    ...(limits && { limits }),
    memory_id: getRunMemoryId(run),
    labels: {
      ...inheritedLabels({ ...meta.labels, ...step?.route_labels }),
      ...runLabels(run, action.path),
      ...(step?.policy_gate && { policy_gate: step.policy_gate }),
      ...(agentId !== undefined && { agent_id: agentId }),
    },
  };
}

/** Builds the job that compensates a step. */
export function buildCompensation(owned: PlannedRun, action: Compensate): NewJob {
  const { run, definition } = owned;
  const rule: Partial<Compensation> = definition.steps[action.step]?.compensation ?? {};
  const request: StoredRequest = {
    ...baseRequest(owned, action.topic, rule.meta ?? {}, action.step),
    priority: 'critical',
    ...(rule.adapter_id && { adapter_id: rule.adapter_id }),
    idempotency_key: action.idempotencyKey,
    deadline_ms: action.timeoutMs,
    memory_id: rule.memory_id ?? getRunMemoryId(run),
    labels: {
      ...inheritedLabels({ ...rule.meta?.labels, ...rule.labels }),
      ...runLabels(run, action.step),
      saga_compensation: 'true',
      is_compensation: 'true',
      saga_workflow_id: run.workflow_id,
      saga_undoes: action.undoes,
    },
    env: { ...rule.env, ...dryRun(run) },
  };
  const document = inputDocument(request, run, action.input, owned.nowMs);
  return { id: action.jobId, request, document };
}

/**
 * Opens an approval gate: a job that no worker serves and that is held until people decide. Policy is evaluated here, once,
 * and may deny the gate; with any other decision, people decide.
 *
 * @throws backpressure, overloaded, safety_unavailable: retried later; Fenced
 */
export async function openGate(deps: RunDeps, owned: OwnedRun, action: OpenGate): Promise<void> {
  const { run, definition } = owned;
  const step = definition.steps[action.step];
  const request: StoredRequest = {
    ...baseRequest(owned, approvalGateTopic, step?.meta ?? {}, action.path),
    priority: 'interactive',
    idempotency_key: `wf:${run.id}:${action.path}:${action.attempt}`,
    deadline_ms: 0,
    memory_id: getRunMemoryId(run),
    labels: {
      ...inheritedLabels({ ...step?.meta?.labels }),
      ...runLabels(run, action.path),
      gate_type: 'workflow_approval',
    },
  };
  const document = {
    kind: 'workflow_approval_context',
    version: 1,
    workflow: {
      workflow_id: run.workflow_id,
      workflow_name: definition.name,
      run_id: run.id,
      step_id: action.path,
      step_name: step?.name ?? action.step,
      requested_at: new Date(owned.nowMs).toISOString(),
      triggered_by: run.triggered_by ?? '',
      tenant_id: run.org_id,
      team_id: run.team_id ?? '',
    },
    decision: action.input ?? {},
  };
  const job = { id: action.jobId, path: action.path, request, document };
  const creation = await requireApproval(deps, owned, job, gateTerms(run, action.rule, step));
  await acceptJob(deps, owned, { ...job, ...creation });
}

interface ApprovalTerms extends RequiredApproval {
  timeLimitMs(deps: TurnDeps): number;
}

const gateTerms = (run: RunState, rule: OpenGate['rule'], step: StepDefinition | undefined): ApprovalTerms => ({
  reason: 'a step of a workflow asks',
  approval: {
    gate: {
      quorum: rule.quorum ?? 1,
      exclude_starter: step !== undefined && excludesStarter(step),
      requester: run.triggered_by ?? '',
      ...(rule.escalate_to && { escalate_to: rule.escalate_to }),
    },
  },
  // The run's own timers end the gate; this limit is for a run that no longer exists.
  timeLimitMs: ({ settings }) => (rule.expires_sec ? rule.expires_sec * 1_000 : 0) + settings.approvalTtlMs,
});

/**
 * Evaluates policy for a job that requires an approval in any case, and denies or holds it. The scheduler does not evaluate
 * held jobs, so this is the only evaluation. @throws safety_unavailable
 */
async function requireApproval(
  deps: TurnDeps,
  { run, nowMs }: PlannedRun,
  { id, request, document }: NewJob,
  terms: ApprovalTerms,
): Promise<Creation> {
  const { kernel, topics, settings } = deps;
  const nowUs = nowMs * 1_000;
  const job = { id, tenant: run.org_id, topic: request.topic, request, run: run.id };
  const answer = await askAboutJob({ kernel, topics, clock: { nowUs: () => nowUs } }, job, {
    method: 'evaluate',
    content: toPolicyContent(isGate(job.topic) ? { context: document } : document),
    config: await deps.config.at(toConfigScope(run)),
  });
  if (answer.kind === 'unavailable') throw new AppError('safety_unavailable');
  const initial = approvalStateFor(id, answer, terms, {
    nowUs,
    timeLimitMs: terms.timeLimitMs(deps),
    inputHash: () => inputHash(JSON.stringify(document)),
  });
  const { decision } = initial;
  if (initial.kind === 'held') return { live: answer, decision, safety: decision, next: initial.next };
  const record = { ...job, attempts: 0, state: 'PENDING' } as const;
  const extras = failureWrites(record, initial.failure, nowUs, settings.deadLetterTtlSec);
  return { live: answer, decision, next: { event: 'deny', extras } };
}

function baseRequest(
  { run }: Pick<OwnedRun, 'run'>,
  topic: string,
  meta: StepMeta,
  path: string,
): Omit<StoredRequest, 'priority' | 'labels' | 'memory_id' | 'deadline_ms'> {
  const principal = run.triggered_by ?? '';
  return {
    topic,
    ...(meta.capability && { capability: meta.capability }),
    risk_tags: meta.risk_tags ?? [],
    requires: meta.requires ?? [],
    tags: [],
    context_mode: 'raw',
    principal_id: principal,
    actor_id: meta.actor_id ?? principal,
    ...(meta.actor_type && { actor_type: meta.actor_type }),
    ...(meta.pack_id && { pack_id: meta.pack_id }),
    ...(run.team_id && { team_id: run.team_id }),
    max_input_tokens: 0,
    max_output_tokens: 0,
    max_total_tokens: 0,
    allow_summarization: false,
    allow_retrieval: false,
    env: dryRun(run),
    workflow_id: run.workflow_id,
    run_id: run.id,
    step_id: path,
  };
}

const dryRun = (run: RunState): Record<string, string> => (run.dry_run ? { dry_run: 'true' } : {});

const runLabels = (run: RunState, path: string): Record<string, string> => ({
  ...run.labels,
  workflow_id: run.workflow_id,
  run_id: run.id,
  step_id: path,
  ...dryRun(run),
  _source: 'workflow',
});

/** Memory id of a run and its jobs. */
export function getRunMemoryId({ id, input }: Pick<RunState, 'id' | 'input'>): string {
  const own = input['memory_id'];
  return (typeof own === 'string' && own.replace(/^mem:/, '').trim()) || `run:${id}`;
}

const toPriority = (priority: DispatchJob['priority']): StoredRequest['priority'] =>
  priority === 'CRITICAL' ? 'critical' : priority === 'INTERACTIVE' ? 'interactive' : 'batch';

/** The same document as for jobs that clients submit. */
export function inputDocument(request: StoredRequest, run: RunState, input: unknown, nowMs: number): object {
  const prompt = (input as { prompt?: unknown } | null | undefined)?.prompt;
  return {
    prompt: typeof prompt === 'string' ? prompt : '',
    adapter_id: request.adapter_id ?? '',
    priority: request.priority,
    topic: request.topic,
    created_at: new Date(nowMs).toISOString(),
    tenant_id: run.org_id,
    context: input ?? {},
  };
}
