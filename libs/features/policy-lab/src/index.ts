/** Evaluation without side effects: simulation, replay, analytics and shadow policies. */
export { analysePolicy } from './analytics-rules';
export { askKernel } from './evaluate/evaluate-ask';
export { ActionClaimRepository } from './evaluate/action-claim.repository';
export { auditPolicyCall } from './evaluate/evaluate-audit';
export { prepareCandidate, simulateBundle, type SimulateBundleDeps } from './evaluate/evaluate-bundle';
export { evaluatePolicy, explainPolicy, policySnapshots, simulatePolicy } from './evaluate/evaluate-policy';
export { policyQuestion, type QuestionDeps } from './evaluate/evaluate-question';
export { openResolver } from './evaluate/dns-resolver';
export { type RecordedRequest, readRecordedRequests } from './recorded-questions';
export { type ReplayDeps, replayPolicy } from './replay-decisions';
export { openShadows } from './shadows/open-shadows';
export { getShadow } from './shadows/shadow-read';
export { shadowComparisons, type ShadowResultDeps, shadowSummary, shadowTimeseries } from './shadows/shadow-results';
export { ShadowSummaries } from './shadows/shadow-summaries';
export { putShadow, removeShadow, type ShadowWriteDeps } from './shadows/shadow-write';
export { policyLabRoutes, type PolicyLabContext } from './routes';
