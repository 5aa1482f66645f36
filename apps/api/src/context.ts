import type { AgentContext } from '@svc/agents';
import type { ApprovalContext } from '@svc/approvals';
import type { AuditContext } from '@svc/audit';
import type { BudgetContext } from '@svc/budget';
import type { ConfigContext } from '@svc/config-admin';
import type { EvidenceContext } from '@svc/evidence';
import type { EvalContext } from '@svc/evals';
import type { ExplainContext } from '@svc/explain';
import type { GovernanceContext } from '@svc/governance';
import type { DataContext, DeadLetterContext, JobContext } from '@svc/jobs';
import type { PolicyAdminContext } from '@svc/policy-admin';
import type { PolicyLabContext } from '@svc/policy-lab';
import type { FleetContext, PoolContext, SchemaContext, TopicContext } from '@svc/registry';
import type { ScimContext } from '@svc/scim';
import type { StatusContext } from '@svc/status';
import type { StreamContext } from '@svc/streams';
import type { SsoContext } from '@svc/sso';
import type { UserContext } from '@svc/users';
import type { WorkerTrustContext } from '@svc/worker-trust';
import type { RunContext, ScheduleContext, WorkflowContext } from '@svc/workflows';
import type { LockContext } from '@svc/locks';
import type { EffectsContext } from '@svc/effects';
import type { AccessContext } from '@svc/access';
import type { LicenseContext } from '@svc/license';
import type { TelemetryContext } from '@svc/telemetry';
import type { TenantContext } from '@svc/tenants';

/** Dependencies of all handlers of the gateway, built once in main. */
export type ApiContext = AgentContext &
  ApprovalContext &
  DataContext &
  BudgetContext &
  ConfigContext &
  DeadLetterContext &
  StatusContext &
  JobContext &
  ExplainContext &
  PolicyAdminContext &
  PolicyLabContext &
  AuditContext &
  EvidenceContext &
  FleetContext &
  PoolContext &
  WorkerTrustContext &
  RunContext &
  ScheduleContext &
  SchemaContext &
  SsoContext &
  StreamContext &
  TopicContext &
  UserContext &
  WorkflowContext &
  LockContext &
  GovernanceContext &
  EvalContext &
  EffectsContext &
  AccessContext &
  LicenseContext &
  TenantContext &
  TelemetryContext &
  ScimContext;
