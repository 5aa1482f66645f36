export * from './budget/budget';
export * from './bundles/bundle-record';
export * from './bundles/bundle-signature';
export * from './bundles/merge-bundles';
export { prepareBundle, type PreparedBundle } from './bundles/prepare-bundle';
export { overrideBundleId, overrideFaults } from './bundles/workflow-override';
export { setOutputRule } from './bundles/set-output-rule';
export { readAllowLists, splitAllowLists } from './config/allow-lists';
export { mergeConfig, type ConfigLayer } from './config/merge-config';
export { legacyRules } from './compile/legacy-rules';
export { readSigningKey } from './bundles/signing-key';
export type { DelegationFacts } from './compile/predicate';
export { compileGlob as topicGlob } from './compile/glob';
export { compileRegex, regexFault, type ContentPattern } from './compile/regex';
export { mergePolicies, type MergeOptions, type Policy, type Sourced } from './compile/merge-policies';
export type { MergedTenant } from './compile/merge-tenants';
export { parsePolicy, type ParsedPolicy, type ParseOptions } from './document/parse-policy';
export type * from './document/policy-document';
export { policySections } from './document/schema';
export { isStricter, type RuleDecision, type Severity, type Tier, type Verdict } from './document/words';
export type { ContentFinding, ContentNeeds, ScanContent } from './evaluate/content';
export { decide, decideAsync } from './evaluate/decide';
export { parseDeriver } from './evaluate/deriver';
export { explain, MAX_TRACED_RULES, type Explanation } from './evaluate/explain';
export { evaluation, type EvaluationOptions, type EvaluationPart } from './evaluate/evaluation';
export type {
  PolicyDecision,
  PolicyRequest,
  RequestMeta,
  RiskTagDeriver,
  VelocityAnswer,
  VelocityCheck,
} from './evaluate/request';
export type { RuleTrace } from './evaluate/trace';
export { tryCandidate } from './evaluate/try-candidate';
export * from './action-checks';
export { evaluateOutput } from './output/evaluate-output';
export type { FindOutput, OutputDecision, OutputRequest, OutputScan } from './output/output-request';
export { analyseRules, type AnalyticsReport, type RuleAnalytics, type RuleHit } from './replay/analytics';
export { compareReplay, type ReplayChange, type ReplayedJob, type ReplayReport } from './replay/compare';
export {
  compareEvals,
  type ComparedEntry,
  type EvalComparison,
  type EvalDifference,
  type EvalEffect,
} from './evals/compare-evals';
export {
  type DriftDirection,
  type EntryOutcome,
  type EntryScore,
  type EvalStatus,
  type EvalSummary,
  scoreEntry,
  summarizeScores,
} from './evals/score';
