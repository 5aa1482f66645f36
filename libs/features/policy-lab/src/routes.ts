import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import { getBundleId } from '@svc/policy-admin';
import { analysePolicy } from './analytics-rules';
import { simulateBundle, type SimulateBundleDeps } from './evaluate/evaluate-bundle';
import { evaluatePolicy, explainPolicy, policySnapshots, simulatePolicy } from './evaluate/evaluate-policy';
import { type ReplayDeps, replayPolicy } from './replay-decisions';
import { getShadow } from './shadows/shadow-read';
import { shadowComparisons, type ShadowResultDeps, shadowSummary, shadowTimeseries } from './shadows/shadow-results';
import { putShadow, removeShadow, type ShadowWriteDeps } from './shadows/shadow-write';

/** Dependencies of these handlers. */
export interface PolicyLabContext {
  policyEvaluate: SimulateBundleDeps & ReplayDeps;
  policyShadows: ShadowWriteDeps & ShadowResultDeps;
}

const handle = handlersFor<PolicyLabContext>();

/** Policy evaluation without side effects, and shadow policies. */
export const policyLabRoutes = [
  handle(contract.evaluatePolicy, ({ body, caller, requestId, ctx }) =>
    evaluatePolicy(ctx.policyEvaluate, { caller, requestId }, body),
  ),
  handle(contract.simulatePolicy, ({ body, caller, requestId, ctx }) =>
    simulatePolicy(ctx.policyEvaluate, { caller, requestId }, body),
  ),
  handle(contract.explainPolicy, ({ body, caller, requestId, ctx }) =>
    explainPolicy(ctx.policyEvaluate, { caller, requestId }, body),
  ),
  handle(contract.policySnapshots, async ({ ctx }) => ({
    snapshots: await policySnapshots(ctx.policyEvaluate),
  })),
  handle(contract.simulateBundle, ({ params, query, body, caller, requestId, ctx }) =>
    simulateBundle(ctx.policyEvaluate, { caller, requestId }, getBundleId(params, query), body),
  ),
  handle(contract.replayPolicy, ({ body, caller, ctx }) => replayPolicy(ctx.policyEvaluate, caller, body)),
  handle(contract.analysePolicy, ({ body, caller, ctx }) => analysePolicy(ctx.policyEvaluate, caller, body)),
  handle(contract.getShadow, ({ params, query, caller, ctx }) =>
    getShadow(ctx.policyShadows, caller, getBundleId(params, query)),
  ),
  handle(contract.putShadow, ({ params, query, body, caller, ctx }) =>
    putShadow(ctx.policyShadows, caller, { ...body, id: getBundleId(params, query) }),
  ),
  handle(contract.removeShadow, ({ params, query, caller, ctx }) =>
    removeShadow(ctx.policyShadows, caller, getBundleId(params, query)),
  ),
  handle(contract.shadowSummary, ({ params, query, caller, ctx }) =>
    shadowSummary(ctx.policyShadows, caller, getBundleId(params, query), query),
  ),
  handle(contract.shadowComparisons, ({ params, query, caller, ctx }) =>
    shadowComparisons(ctx.policyShadows, caller, getBundleId(params, query), query),
  ),
  handle(contract.shadowTimeseries, ({ params, query, caller, ctx }) =>
    shadowTimeseries(ctx.policyShadows, caller, getBundleId(params, query), query),
  ),
];
