import type { ContentNeeds } from '../evaluate/content';
import type { InputRule, ScopeMatch } from '../document/policy-document';
import { toVerdict, type Severity, type Verdict } from '../document/words';
import { compileMatch, type Condition } from './conditions';
import { anyGlob, fold } from './glob';
import { compileRegex } from './regex';

export interface CompiledInputRule {
  id: string;
  /** The document it came from. */
  source: string;
  verdict: Verdict;
  reason: string;
  severity: Severity | undefined;
  conditions: readonly Condition[];
  /** Content larger than this many bytes matches by size alone; undefined when the rule has no size condition. */
  sizeLimit: number | undefined;
  needs: ContentNeeds;
  scope: ScopeMatch | undefined;
}

/** See docs/reference/policy.md#content-rules. */
export function compileInputRule(rule: InputRule, source: string): CompiledInputRule {
  const match = rule.match ?? {};
  const limits = [match.input_size_gt, match.max_input_bytes].filter((limit) => limit !== undefined);
  return {
    id: rule.id,
    source,
    verdict: toVerdict(rule.decision),
    reason: rule.reason ?? `content rule ${rule.id} matched`,
    severity: rule.severity,
    conditions: [...compileMatch(match), ...contentTypes(match.content_types)],
    sizeLimit: limits.length > 0 ? Math.min(...limits) : undefined,
    needs: {
      scanners: match.scanners ?? [],
      detectors: match.detectors ?? [],
      patterns: [...(match.content_patterns ?? []), ...(match.patterns ?? [])].map(compileRegex),
      keywords: match.keywords ?? [],
    },
    scope: match.scope ?? rule.scope,
  };
}

/** `text/plain; charset=utf-8` is compared as `text/plain`. A `/` is no border for the globs of content types. */
function contentTypes(list: readonly string[] | undefined): Condition[] {
  if (!list?.length) return [];
  const matches = anyGlob(list.map((type) => type.replaceAll('/', '\n')));
  return [
    {
      name: 'content_types',
      holds: ({ request }) => matches(fold(request.input_content_type?.split(';')[0] ?? '').replaceAll('/', '\n')),
    },
  ];
}
