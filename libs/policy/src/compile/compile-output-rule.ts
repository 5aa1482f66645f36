import type { OutputRule, TopicOverride } from '../document/policy-document';
import type { ContentNeeds } from '../evaluate/content';
import { compileMatch, type Condition } from './conditions';
import { compileGlob, type TextTest } from './glob';
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

export interface CompiledOverride extends TopicOverride {
  matches: TextTest;
}

const actions = { allow: 'ALLOW', deny: 'QUARANTINE', quarantine: 'QUARANTINE', redact: 'REDACT' } as const;

/** Policy contract 2.6; spec "Output rule". Deny and quarantine are one. */
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

export const compileOverrides = (overrides: readonly TopicOverride[] = []): CompiledOverride[] =>
  overrides.map((override) => ({ ...override, matches: compileGlob(override.topic_pattern) }));
