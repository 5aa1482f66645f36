import { handlersFor } from '@svc/http';
import type {
  ApprovalDeps,
  ArtifactDeps,
  BudgetDeps,
  CancelDeps,
  ConfigWriteDeps,
  DataUrlDeps,
  DryRunDeps,
  ExplainRunDeps,
  FleetDeps,
  ReplayDeps,
  SimulateBundleDeps,
  RemoveWorkflowDeps,
  ResubmitDeps,
  SaveScheduleDeps,
  SaveWorkflowDeps,
  SchemaWriteDeps,
  ShadowResultDeps,
  ShadowWriteDeps,
  StartRunDeps,
  StatusDeps,
  SubmitDeps,
  TopicWriteDeps,
  VelocityStatsDeps,
  VelocityWriteDeps,
  WaitDeps,
} from '@svc/services';
import type { Health } from '@svc/runtime';

/** What handlers of the gateway get: every service's needs in one object, built once in main. */
export interface ApiContext {
  submit: SubmitDeps;
  reads: WaitDeps;
  cancel: CancelDeps;
  explain: ExplainRunDeps;
  resubmit: ResubmitDeps;
  approvals: ApprovalDeps;
  artifacts: ArtifactDeps;
  dataUrls: DataUrlDeps;
  fleet: FleetDeps;
  policyEvaluate: SimulateBundleDeps & ReplayDeps;
  policyDocuments: VelocityWriteDeps & VelocityStatsDeps;
  policyShadows: ShadowWriteDeps & ShadowResultDeps;
  topics: TopicWriteDeps;
  schemas: SchemaWriteDeps;
  config: ConfigWriteDeps;
  budgets: BudgetDeps;
  workflows: SaveWorkflowDeps & RemoveWorkflowDeps;
  runs: StartRunDeps & DryRunDeps & WaitDeps;
  schedules: SaveScheduleDeps;
  status: StatusDeps;
  health: Health;
}

export const handle = handlersFor<ApiContext>();
