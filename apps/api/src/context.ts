import { handlersFor } from '@svc/http';
import type {
  ApprovalDeps,
  ArtifactDeps,
  CancelDeps,
  ExplainDeps,
  FleetDeps,
  RemoveWorkflowDeps,
  ResubmitDeps,
  SaveWorkflowDeps,
  SchemaWriteDeps,
  StatusDeps,
  SubmitDeps,
  TopicWriteDeps,
  WaitDeps,
} from '@svc/services';
import type { Health } from '@svc/runtime';

/** What handlers of the gateway get: every service's needs in one object, built once in main. */
export interface ApiContext {
  submit: SubmitDeps;
  reads: WaitDeps;
  cancel: CancelDeps;
  explain: ExplainDeps;
  resubmit: ResubmitDeps;
  approvals: ApprovalDeps;
  artifacts: ArtifactDeps;
  fleet: FleetDeps;
  topics: TopicWriteDeps;
  schemas: SchemaWriteDeps;
  workflows: SaveWorkflowDeps & RemoveWorkflowDeps;
  status: StatusDeps;
  health: Health;
}

export const handle = handlersFor<ApiContext>();
