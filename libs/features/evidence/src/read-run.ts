import { canonicalHash } from '@svc/json';
import type { LoadedRun, Store } from '@svc/store';
import { toRunState } from '@svc/workflows';

/** A run without its data: the hash of its input, and the status of its steps. Times in µs. */
export function describeRun(loaded: LoadedRun): object {
  const { id, tenant, workflow_id, workflow_version, team_id, status, created_at, updated_at, ended_at, cost } =
    loaded.run;
  const { input, steps } = toRunState(loaded);
  return {
    id,
    tenant,
    workflow_id,
    workflow_version,
    team_id,
    status,
    created_at,
    updated_at,
    ended_at,
    cost_micros: cost,
    input_sha256: canonicalHash(input),
    steps: Object.entries(steps).map(([name, step]) => ({ name, status: step.status })),
  };
}

/** `workflow.json`: the definition that the run executes, in its version; undefined when it is not kept any more. */
export async function readWorkflow(
  { workflows }: Pick<Store, 'workflows'>,
  { run: { tenant, workflow_id, workflow_version } }: LoadedRun,
): Promise<object | undefined> {
  const found = await workflows.version(tenant, workflow_id, workflow_version);
  if (found.kind !== 'found') return undefined;
  const { document, ...version } = found.value;
  return { ...version, document_sha256: canonicalHash(document), document };
}
