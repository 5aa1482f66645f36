import type { RevisionItem, WorkflowView } from '@svc/contract';
import type { WorkflowDefinition } from '@svc/workflow';
import type { WorkflowRecord, WorkflowVersion } from '@svc/store';

/** What the store holds was checked when it was written; only `saveWorkflow` writes it. */
export const definitionOf = ({ document }: WorkflowVersion): WorkflowDefinition =>
  document as unknown as WorkflowDefinition;

const iso = (us: number): string => new Date(us / 1_000).toISOString();

/** A definition for readers. See docs/reference/workflows.md#definitions. */
export function workflowViewOf(version: WorkflowVersion, made: Pick<WorkflowRecord, 'created_at' | 'created_by'>) {
  const { team_id = '', description = '', version: text = '', steps, ...rest } = definitionOf(version);
  const view = {
    ...rest,
    // Stored without it: the key is the id, and a definition that is sent back must equal the stored one.
    steps: Object.fromEntries(Object.entries(steps).map(([id, step]) => [id, { id, ...step }])),
    team_id,
    description,
    version: text,
    created_by: made.created_by,
    created_at: iso(made.created_at),
    updated_at: iso(version.written_at),
    revision: version.version,
  };
  // The same JSON, which the contract describes more loosely than the pure library.
  return view as unknown as WorkflowView;
}

/** One revision in the list of them. */
export function revisionItemOf(version: WorkflowVersion, newest: number): RevisionItem {
  const definition = definitionOf(version);
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
