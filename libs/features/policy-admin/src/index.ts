/** Changes of policy: bundles, publishing, rollback, rules, velocity rules and the global policy. */
export { prepareContent, textOfTime } from './bundle-content';
export { getBundle, listBundles } from './bundle-reads';
export { putBundle, removeBundle } from './bundle-writes';
export { bundlesIn, readVisibleBundles, requireRoom } from './bundles-document';
export { getGlobalPolicy, putGlobalPolicy } from './global-policy';
export { ParsedBundles } from './parsed-bundles';
export { type PolicyReadDeps, type PolicySigning, type PolicyWriteDeps, signingKeyOf } from './policy-deps';
export { publishBundles } from './publish-bundles';
export { rollBackBundles } from './publish-rollback';
export { getSnapshot, listSnapshots, takeSnapshot } from './publish-snapshots';
export { listOutputRules, listRules } from './rules-list';
export { outputStats } from './rules-output-stats';
export { putOutputRule } from './rules-toggle';
export { shadowHeadView } from './shadow-head-view';
export { listVelocityRules } from './velocity-list';
export { velocityStats, type VelocityStatsDeps } from './velocity-stats';
export { addVelocityRule, putVelocityRule, removeVelocityRule, type VelocityWriteDeps } from './velocity-write';
export { overridePart, overrideProblems } from './workflow-override';
