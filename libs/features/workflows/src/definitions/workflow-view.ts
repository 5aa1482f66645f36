import type { RevisionItem, WorkflowView } from '@svc/contract';
import type { WorkflowDefinition } from '@svc/workflow';
import type { WorkflowRecord, WorkflowVersion } from '@svc/store';

/** Validated at write time; only `saveWorkflow` writes it. */
export const parseDefinition = ({ document }: WorkflowVersion): WorkflowDefinition =>
  document as unknown as WorkflowDefinition;

const iso = (us: number): string => new Date(us / 1_000).toISOString();

/** API view of a definition. See docs/reference/workflows.md#definitions. */
export function toWorkflowView(version: WorkflowVersion, created: Pick<WorkflowRecord, 'created_at' | 'created_by'>) {
  const { team_id = '', description = '', version: text = '', steps, ...rest } = parseDefinition(version);
  const view = {
    ...rest,
    // Added from the key: stored definitions omit it, so that a view sent back equals the stored definition.
    steps: Object.fromEntries(Object.entries(steps).map(([id, step]) => [id, { id, ...step }])),
    team_id,
    description,
    version: text,
    created_by: created.created_by,
    created_at: iso(created.created_at),
    updated_at: iso(version.written_at),
    revision: version.version,
  };
  // The contract types the same JSON more loosely than the library.
  return view as unknown as WorkflowView;
}

/** List view of a revision. */
export function toRevisionItem(version: WorkflowVersion, newest: number): RevisionItem {
  const definition = parseDefinition(version);
  return {
    revision: version.version,
    name: definition.name,
    version: definition.version ?? '',
    steps: Object.keys(definition.steps).length,
    created_by: version.written_by,
    created_at: iso(version.written_at),
    current: version.version === newest,
  };
}
