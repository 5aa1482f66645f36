/** The words of the policy language, their spellings and their strictness. See docs/reference/policy.md#decisions. */

export const ruleDecisions = ['allow', 'deny', 'require_approval', 'throttle', 'allow_with_constraints'] as const;
export type RuleDecision = (typeof ruleDecisions)[number];

export const outputRuleDecisions = ['allow', 'deny', 'quarantine', 'redact'] as const;
export type OutputRuleDecision = (typeof outputRuleDecisions)[number];

export const inputRuleDecisions = ['deny', 'require_approval'] as const;
export type InputRuleDecision = (typeof inputRuleDecisions)[number];

/** Spelling of a decision in records and REST bodies. */
export type Verdict = 'ALLOW' | 'ALLOW_WITH_CONSTRAINTS' | 'REQUIRE_APPROVAL' | 'THROTTLE' | 'DENY';

export const tiers = ['global', 'workflow', 'job'] as const;
export type Tier = (typeof tiers)[number];

export const levels = ['low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof levels)[number];

export const scannerNames = ['secret', 'pii', 'injection'] as const;
export const detectorNames = ['secret_leak', 'pii', 'code_injection', 'custom'] as const;

const aliases: Readonly<Record<string, string>> = {
  permit: 'allow',
  block: 'deny',
  require_human: 'require_approval',
};

/** `Require-Human` and `require_approval` are the same word: case folded, `-` read as `_`, aliases resolved. */
export function canonicalWord(word: string): string {
  const folded = word.trim().toLowerCase().replaceAll('-', '_');
  return Object.hasOwn(aliases, folded) ? (aliases[folded] ?? folded) : folded;
}

const verdicts: Readonly<Record<RuleDecision, Verdict>> = {
  allow: 'ALLOW',
  deny: 'DENY',
  require_approval: 'REQUIRE_APPROVAL',
  throttle: 'THROTTLE',
  allow_with_constraints: 'ALLOW_WITH_CONSTRAINTS',
};
export const toVerdict = (decision: RuleDecision): Verdict => verdicts[decision];

const strictness: Readonly<Record<Verdict, number>> = {
  ALLOW: 0,
  ALLOW_WITH_CONSTRAINTS: 1,
  REQUIRE_APPROVAL: 2,
  THROTTLE: 3,
  DENY: 4,
};

/** Whether `a` permits less than `b`. */
export const isStricter = (a: Verdict, b: Verdict): boolean => strictness[a] > strictness[b];
export const isPermitting = (verdict: Verdict): boolean => verdict === 'ALLOW' || verdict === 'ALLOW_WITH_CONSTRAINTS';

/** Position of a severity, low = 0; an unknown word is the lowest. */
export const severityRank = (severity: string): number =>
  Math.max(
    0,
    levels.findIndex((level) => level === severity.toLowerCase()),
  );
