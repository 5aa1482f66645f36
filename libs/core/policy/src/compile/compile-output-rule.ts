import type { OutputRule, TopicOverride } from '../document/policy-document';
import type { ContentNeeds } from '../evaluate/content';
import { compileMatch, type Condition } from './conditions';
import { compileGlob, globNarrowness, type TextTest } from './glob';
import { compileRegex } from './regex';

export interface CompiledOutputRule {
  id: string;
  action: 'ALLOW' | 'QUARANTINE' | 'REDACT';
  reason: string;
  conditions: readonly Condition[];
  sizeLimit: number | undefined;
  hasError: boolean | undefined;
  needs: ContentNeeds;
  hold: boolean;
}

/** Settings of the output policy that are overridden for a topic; all others come from the policy. */
export type OutputOverride = Omit<TopicOverride, 'topic_pattern'>;

interface CompiledOverride {
  matches: TextTest;
  narrowness: number;
  override: OutputOverride;
}

const actions = { allow: 'ALLOW', deny: 'QUARANTINE', quarantine: 'QUARANTINE', redact: 'REDACT' } as const;

/** Deny and quarantine have the same effect. See docs/reference/policy.md#output-policy. */
export function compileOutputRule({ id, decision, reason, hold, match = {} }: OutputRule): CompiledOutputRule {
  const { tenants, topics, capabilities, risk_tags } = match;
  const limits = [match.output_size_gt, match.max_output_bytes].filter((limit) => limit !== undefined);
  return {
    id,
    action: actions[decision],
    reason: reason ?? `matched output rule ${id}`,
    conditions: compileMatch({
      ...(tenants && { tenants }),
      ...(topics && { topics }),
      ...(capabilities && { capabilities }),
      ...(risk_tags && { risk_tags }),
    }),
    sizeLimit: limits.length > 0 ? Math.max(...limits) : undefined,
    hasError: match.has_error,
    hold: hold === true,
    needs: {
      scanners: match.scanners ?? [],
      detectors: match.detectors ?? [],
      patterns: (match.content_patterns ?? []).map(compileRegex),
      keywords: [],
    },
  };
}

/**
 * Compiles the topic overrides of all documents, in merge order. Within a document the first override that matches a topic
 * wins. Across documents, each setting comes from the override with the narrowest pattern that sets it, and from the
 * later document when patterns are equally narrow.
 *
 * @returns the override for a topic, already normalized; undefined when no pattern matches
 */
export function compileOverrides(
  documents: readonly (readonly TopicOverride[])[],
): (topic: string) => OutputOverride | undefined {
  const compiled = documents.map((overrides) => overrides.map(compileOverride));
  return (topic) => {
    const [first, ...others] = compiled
      .flatMap((overrides) => overrides.find(({ matches }) => matches(topic)) ?? [])
      .sort((a, b) => a.narrowness - b.narrowness);
    return others.reduce((merged, { override }) => ({ ...merged, ...override }), first?.override);
  };
}

const compileOverride = ({ topic_pattern, ...override }: TopicOverride): CompiledOverride => ({
  override,
  matches: compileGlob(topic_pattern),
  narrowness: globNarrowness(topic_pattern),
});
