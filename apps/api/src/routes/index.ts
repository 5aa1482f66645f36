import type { Route } from '@svc/http';
import { agentRoutes } from '@svc/agents';
import { approvalRoutes } from '@svc/approvals';
import { auditRoutes } from '@svc/audit';
import { budgetRoutes } from '@svc/budget';
import { configRoutes } from '@svc/config-admin';
import { evidenceRoutes } from '@svc/evidence';
import { evalRoutes } from '@svc/evals';
import { explainRoutes } from '@svc/explain';
import { governanceRoutes } from '@svc/governance';
import { dataRoutes, deadLetterRoutes, jobRoutes } from '@svc/jobs';
import { policyAdminRoutes } from '@svc/policy-admin';
import { policyLabRoutes } from '@svc/policy-lab';
import { fleetRoutes, poolRoutes, schemaRoutes, topicRoutes } from '@svc/registry';
import { statusRoutes } from '@svc/status';
import { ssoRoutes } from '@svc/sso';
import { streamRoutes } from '@svc/streams';
import { userRoutes } from '@svc/users';
import { workerTrustRoutes } from '@svc/worker-trust';
import { runRoutes, scheduleRoutes, workflowRoutes } from '@svc/workflows';
import type { ApiContext } from '../context';
import { lockRoutes } from '@svc/locks';
import { effectsRoutes } from '@svc/effects';
import { accessRoutes } from '@svc/access';
import { licenseRoutes } from '@svc/license';
import { telemetryRoutes } from '@svc/telemetry';
import { tenantRoutes } from '@svc/tenants';
import { scimRoutes } from '@svc/scim';

/** Every handler. */
export const routes: readonly Route<ApiContext>[] = [
  ...agentRoutes,
  ...approvalRoutes,
  ...dataRoutes,
  ...budgetRoutes,
  ...configRoutes,
  ...deadLetterRoutes,
  ...statusRoutes,
  ...jobRoutes,
  ...explainRoutes,
  ...policyAdminRoutes,
  ...policyLabRoutes,
  ...auditRoutes,
  ...evidenceRoutes,
  ...fleetRoutes,
  ...poolRoutes,
  ...workerTrustRoutes,
  ...runRoutes,
  ...scheduleRoutes,
  ...schemaRoutes,
  ...ssoRoutes,
  ...streamRoutes,
  ...topicRoutes,
  ...userRoutes,
  ...workflowRoutes,
  ...lockRoutes,
  ...governanceRoutes,
  ...evalRoutes,
  ...effectsRoutes,
  ...accessRoutes,
  ...licenseRoutes,
  ...tenantRoutes,
  ...telemetryRoutes,
  ...scimRoutes,
];
