import type { Caller, OutputRulesView, OutputRuleView, RulesView, RuleView } from '@svc/contract';
import { legacyRules, type OutputRule, type Rule } from '@svc/policy';
import type { PolicyReadDeps } from './policy-deps';
import { checkedOutputs, type OutputReadDeps, textOfMicros } from './rules-output-stats';
import { type Fragment, policyFragments } from './rules-documents';

interface Listing {
  include_disabled: boolean;
}

/**
 * Rules of the file and of every bundle that the caller can read.
 * See docs/reference/policy.md#output-rules-and-rules-lists.
 */
export async function listRules(
  deps: PolicyReadDeps,
  caller: Caller,
  { include_disabled }: Listing,
): Promise<RulesView> {
  const { fragments, ...errors } = await policyFragments(deps, caller);
  const shown = fragments.filter(({ enabled }) => enabled || include_disabled);
  return { items: shown.flatMap(ruleViews), ...errors };
}

const ruleViews = (fragment: Fragment): RuleView[] => {
  const { document } = fragment;
  return [...legacyRules(document), ...document.rules].map((rule) => ruleView(rule, fragment));
};

function ruleView(rule: Rule, { document, source, enabled }: Fragment): RuleView {
  const tier = rule.tier ?? document.tier;
  const selector = rule.selector ?? (tier === document.tier ? document.selector : undefined) ?? {};
  return { ...rule, tier, selector: { ...selector }, enabled, source };
}

/** Output rules, with the number of decisions each made about results of the caller's tenant. */
export async function listOutputRules(
  deps: PolicyReadDeps & OutputReadDeps,
  caller: Caller,
  { include_disabled }: Listing,
): Promise<OutputRulesView> {
  const [{ fragments, ...errors }, checked] = await Promise.all([
    policyFragments(deps, caller),
    checkedOutputs(deps, caller.tenant),
  ]);
  const items = fragments
    .flatMap((fragment) => fragment.document.output_rules.map((rule) => outputRuleView(rule, fragment)))
    .filter(({ enabled }) => enabled || include_disabled)
    .map((rule) => {
      const triggers = checked.filter(({ rule_id }) => rule_id === rule.id).map(({ checked_at }) => checked_at);
      return {
        ...rule,
        trigger_count_24h: triggers.length,
        ...(triggers.length > 0 && { last_triggered: textOfMicros(Math.max(...triggers)) }),
      };
    });
  return { items, ...errors };
}

const previewChars = 100;

function outputRuleView(rule: OutputRule, { source, enabled }: Fragment): OutputRuleView {
  const { id, description = '', decision, severity = '', reason = '', match = {} } = rule;
  const patterns = match.content_patterns ?? [];
  return {
    id,
    description,
    topics: match.topics ?? [],
    scanners: [...(match.scanners ?? []), ...(match.detectors ?? [])],
    patterns,
    pattern_preview: patterns.join(', ').slice(0, previewChars),
    decision,
    severity,
    reason,
    enabled: rule.enabled && enabled,
    match: { ...match },
    source,
  };
}
