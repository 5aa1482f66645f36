import { mergePolicies, type MergeOptions, type Policy } from './compile/merge-policies';
import { parsePolicy } from './document/parse-policy';
import type { PolicyDocument } from './document/policy-document';
import { decide } from './evaluate/decide';
import type { EvaluationOptions } from './evaluate/evaluation';
import type { PolicyDecision, PolicyRequest, VelocityAnswer, VelocityCheck } from './evaluate/request';

/** Parses a valid YAML document. */
export function parseDocument(yaml: string, source = 'base'): PolicyDocument {
  const parsed = parsePolicy(yaml, { source, mode: 'write' });
  if (parsed.ok) return parsed.document;
  throw new Error(parsed.problems.map(({ line, path, message }) => `line ${line} ${path} ${message}`).join('\n'));
}

/** A policy from one base text, or from several by source, in the order written. */
export function buildPolicy(yaml: string | Record<string, string>, options?: MergeOptions): Policy {
  const sources = typeof yaml === 'string' ? { base: yaml } : yaml;
  return mergePolicies(
    Object.entries(sources).map(([source, text]) => parseDocument(text, source)),
    options,
  );
}

/** A policy of one rule, given the text of its `match`; all else is denied. */
export const allowWhen = (match: string, more = ''): Policy =>
  buildPolicy(`rules:\n  - {id: r, decision: allow, match: ${match}${more}}`);

export const below = (): VelocityAnswer => ({ kind: 'count', count: 0 });

export const ask = (
  policy: Policy,
  request: Partial<PolicyRequest>,
  options?: EvaluationOptions,
  answer: (check: VelocityCheck) => VelocityAnswer = below,
): PolicyDecision => decide(policy, { topic: 'job.a', ...request }, answer, options);

/** `[decision, rule_id]`, which most tests assert. */
export const verdict = (...args: Parameters<typeof ask>): [string, string] => {
  const { decision, rule_id } = ask(...args);
  return [decision, rule_id];
};
