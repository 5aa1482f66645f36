import { handlersFor } from '@svc/http';
import type { ApprovalDeps } from '@svc/approvals';
import type { ArtifactDeps, CancelDeps, DataUrlDeps, ResubmitDeps, SubmitDeps, WaitDeps } from '@svc/jobs';
import type { BudgetDeps } from '@svc/budget';
import type { ConfigWriteDeps } from '@svc/config-admin';
import type { DryRunDeps, RemoveWorkflowDeps, SaveScheduleDeps, SaveWorkflowDeps, StartRunDeps } from '@svc/workflows';
import type { ExplainRunDeps } from '@svc/explain';
import type { FleetDeps, SchemaWriteDeps, TopicWriteDeps } from '@svc/registry';
import type { ReplayDeps, ShadowResultDeps, ShadowWriteDeps, SimulateBundleDeps } from '@svc/policy-lab';
import type { StatusDeps } from '@svc/status';
import type { VelocityStatsDeps, VelocityWriteDeps } from '@svc/policy-admin';
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
