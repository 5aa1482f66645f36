import * as contract from '@svc/contract';
import { answer, handlersFor } from '@svc/http';
import { getBundleId } from './bundle-id';
import { getBundle, listBundles } from './bundle-reads';
import { putBundle, removeBundle } from './bundle-writes';
import { getGlobalPolicy, putGlobalPolicy } from './global-policy';
import { publishBundles } from './publish-bundles';
import { rollBackBundles } from './publish-rollback';
import { getSnapshot, listSnapshots, takeSnapshot } from './publish-snapshots';
import { listOutputRules, listRules } from './rules-list';
import { outputStats } from './rules-output-stats';
import { putOutputRule } from './rules-toggle';
import { listVelocityRules } from './velocity-list';
import { velocityStats, type VelocityStatsDeps } from './velocity-stats';
import { addVelocityRule, putVelocityRule, removeVelocityRule, type VelocityWriteDeps } from './velocity-write';

/** Dependencies of these handlers. */
export interface PolicyAdminContext {
  policyDocuments: VelocityWriteDeps & VelocityStatsDeps;
  policyShadows: Parameters<typeof getBundle>[0];
}

const handle = handlersFor<PolicyAdminContext>();

/** Bundles, publishing, rules and the global policy. */
export const policyAdminRoutes = [
  handle(contract.listBundles, ({ caller, ctx }) => listBundles(ctx.policyDocuments, caller)),
  handle(contract.getBundle, async ({ params, query, caller, ctx }) => {
    const view = await getBundle(ctx.policyShadows, caller, getBundleId(params, query));
    return answer(view, { headers: { ETag: `"${view.sha256}"` } });
  }),
  handle(contract.putBundle, ({ params, query, body, caller, header, ctx }) =>
    putBundle(ctx.policyDocuments, caller, { ...body, id: getBundleId(params, query), ifMatch: header('If-Match') }),
  ),
  handle(contract.removeBundle, ({ params, query, caller, header, ctx }) =>
    removeBundle(ctx.policyDocuments, caller, { id: getBundleId(params, query), ifMatch: header('If-Match') }),
  ),
  handle(contract.listRules, ({ query, caller, ctx }) => listRules(ctx.policyDocuments, caller, query)),
  handle(contract.listOutputRules, ({ query, caller, ctx }) => listOutputRules(ctx.policyDocuments, caller, query)),
  handle(contract.putOutputRule, ({ params, body, caller, ctx }) =>
    putOutputRule(ctx.policyDocuments, caller, { id: params.rule_id, ...body }),
  ),
  handle(contract.outputStats, ({ query, caller, ctx }) => outputStats(ctx.policyDocuments, caller, query)),
  handle(contract.listVelocityRules, ({ ctx }) => listVelocityRules(ctx.policyDocuments)),
  handle(contract.addVelocityRule, ({ body, caller, ctx }) => addVelocityRule(ctx.policyDocuments, caller, body)),
  handle(contract.putVelocityRule, ({ params, body, caller, ctx }) =>
    putVelocityRule(ctx.policyDocuments, caller, { id: params.rule_id, body }),
  ),
  handle(contract.removeVelocityRule, ({ params, caller, ctx }) =>
    removeVelocityRule(ctx.policyDocuments, caller, params.rule_id),
  ),
  handle(contract.velocityStats, ({ caller, ctx }) => velocityStats(ctx.policyDocuments, caller)),
  handle(contract.getGlobalPolicy, ({ ctx }) => getGlobalPolicy(ctx.policyDocuments)),
  handle(contract.putGlobalPolicy, ({ body, caller, ctx }) => putGlobalPolicy(ctx.policyDocuments, caller, body)),
  handle(contract.takeBundleSnapshot, ({ body, caller, ctx }) => takeSnapshot(ctx.policyDocuments, caller, body.note)),
  handle(contract.listBundleSnapshots, ({ ctx }) => listSnapshots(ctx.policyDocuments)),
  handle(contract.getBundleSnapshot, ({ params, caller, ctx }) =>
    getSnapshot(ctx.policyDocuments, caller, params.snapshot_id),
  ),
  handle(contract.publishBundles, ({ body, caller, ctx }) => publishBundles(ctx.policyDocuments, caller, body)),
  handle(contract.rollBackBundles, ({ body, caller, ctx }) => rollBackBundles(ctx.policyDocuments, caller, body)),
];
