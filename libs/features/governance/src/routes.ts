import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import { approvalAnalytics, listResolutions } from './approval-analytics';
import type { GovernanceDeps } from './governance-deps';
import { governanceHealth } from './governance-health';
import { governanceUsage } from './governance-usage';
import { listDecisions } from './list-decisions';
import { policyCoverage } from './policy-coverage';

/** Dependencies of these handlers. */
export interface GovernanceContext {
  governance: GovernanceDeps;
}

const handle = handlersFor<GovernanceContext>();

/** Decisions, approvals, health, cost and coverage of a tenant. */
export const governanceRoutes = [
  handle(contract.listDecisions, ({ query, caller, ctx }) => listDecisions(ctx.governance, caller, query)),
  handle(contract.approvalAnalytics, ({ query, caller, ctx }) => approvalAnalytics(ctx.governance, caller, query)),
  handle(contract.listResolutions, ({ query, caller, ctx }) => listResolutions(ctx.governance, caller, query)),
  handle(contract.governanceHealth, ({ query, caller, ctx }) => governanceHealth(ctx.governance, caller, query.tenant)),
  handle(contract.governanceUsage, ({ query, caller, ctx }) => governanceUsage(ctx.governance, caller, query)),
  handle(contract.policyCoverage, ({ query, caller, ctx }) => policyCoverage(ctx.governance, caller, query)),
];
