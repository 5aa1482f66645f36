import { AppError, tierLimit, type Caller, type WorkflowBody } from '@svc/contract';
import { policyPlace } from '@svc/policy';
import type { Store, WorkflowRecord } from '@svc/store';
import { checkDefinition, type DefinitionFault, type WorkflowDefinition } from '@svc/workflow';
import { announceChange } from '@svc/settings';
import type { Random } from '@svc/platform';
import { overridePart, overrideProblems, type PolicyWriteDeps } from '@svc/policy-admin';
import { writerName } from '@svc/identity';

export interface SaveWorkflowDeps {
  store: Pick<Store, 'workflows'>;
  policy: PolicyWriteDeps;
  random: Pick<Random, 'uuid'>;
  /** Limit of the license in effect; 0 and -1 = unlimited. See docs/operations.md#license. */
  maxSteps(): number;
}

const maxTries = 3;

/**
 * Creates a workflow, or updates the one with this id; absent and empty fields keep their stored values. Each change is a
 * new immutable revision. See docs/reference/workflows.md#definitions.
 *
 * @throws invalid_workflow with all violations, tenant_access_denied, tier_limit_exceeded,
 *   workflow_version_conflict on repeated concurrent changes, policy_signing_required
 */
export async function saveWorkflow(
  deps: SaveWorkflowDeps,
  caller: Caller,
  body: WorkflowBody,
): Promise<{ id: string }> {
  if (body.org_id && body.org_id !== caller.tenant) throw new AppError('tenant_access_denied');
  const id = body.id || deps.random.uuid();
  for (let tries = 0; tries < maxTries; tries++) {
    const stored = await deps.store.workflows.get(caller.tenant, id);
    if (stored.kind === 'other_tenant') throw new AppError('tenant_access_denied');
    const record = stored.kind === 'found' ? stored.value : undefined;
    const definition = validate(deps, { ...mergeStored(record, body), id, org_id: caller.tenant });
    const by = writerName(caller, body.created_by);
    const policy = await overridePart(deps.policy, caller, {
      workflowId: id,
      text: definition.policy_override,
      author: by,
    });
    const write = {
      tenant: caller.tenant,
      id,
      document: { ...definition },
      by,
      author: caller.submitterId,
      expectedVersion: record?.version ?? 0,
    };
    const outcome = await deps.store.workflows.write(write, policy);
    if (outcome.kind === 'other_tenant') throw new AppError('tenant_access_denied');
    if (outcome.kind === 'changed' || outcome.kind === 'policy_changed') continue;
    // After a crash here, kernels detect the change by themselves.
    if (policy) await announceChange(deps.policy, policyPlace);
    return { id };
  }
  throw new AppError('workflow_version_conflict');
}

/** Set by the server and ignored in requests, so that clients can send back a view. */
const serverSet: readonly string[] = ['created_by', 'created_at', 'updated_at', 'revision'];

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === 0 ||
  (typeof value === 'object' && Object.keys(value).length === 0);

function mergeStored(record: WorkflowRecord | undefined, body: WorkflowBody): Record<string, unknown> {
  const sent = Object.entries(body).filter(([name]) => !serverSet.includes(name));
  if (!record) return Object.fromEntries(sent.filter(([, value]) => value !== null));
  const merged: Record<string, unknown> = { ...record.document };
  for (const [name, value] of sent) {
    // An empty override clears it; steps, when present, replace the stored ones.
    if (name === 'policy_override' && value === '') delete merged[name];
    else if (!isEmpty(value) || (name === 'steps' && value !== undefined && value !== null)) merged[name] = value;
  }
  return merged;
}

function validate({ maxSteps }: SaveWorkflowDeps, raw: Record<string, unknown>): WorkflowDefinition {
  const outcome = checkDefinition(raw);
  const override = policyFaults(raw['id'], raw['policy_override']);
  const faults = [...(outcome.kind === 'bad' ? outcome.faults : []), ...override];
  if (outcome.kind === 'bad' || faults.length > 0) {
    const [only, ...others] = faults;
    const summary = only && others.length === 0 ? { error: `${only.path || 'the workflow'}: ${only.message}` } : {};
    throw new AppError('invalid_workflow', { ...summary, violations: faults });
  }
  const current = Object.keys(outcome.definition.steps).length;
  const allowed = maxSteps();
  if (allowed > 0 && current > allowed) {
    throw tierLimit({
      message: `the workflow has ${current} steps and the plan allows ${allowed}`,
      limit: 'max_workflow_steps',
      current,
      allowed,
    });
  }
  return outcome.definition;
}

/** Validates the override: a regular policy document that applies only to jobs of this workflow. */
function policyFaults(id: unknown, text: unknown): DefinitionFault[] {
  if (typeof text !== 'string' || text === '') return [];
  return overrideProblems(String(id), text).map(({ line, column, path, message }) => ({
    path: 'policy_override',
    message: `${line > 0 ? `line ${line}, column ${column}${path && ` (${path})`}` : path}: ${message}`,
  }));
}
