import type { Caller, CoverageView, RuleView, UncoveredTopicView, WindowQuery } from '@svc/contract';
import { topicGlob } from '@svc/policy';
import { listRules } from '@svc/policy-admin';
import type { GovernanceDeps } from './governance-deps';
import { toWindow, toWindowView } from './time-window';

type CoverageDeps = Pick<GovernanceDeps, 'store' | 'parsed' | 'basePolicy' | 'defaultTenant' | 'clock' | 'topics'>;

const keepMs = 60_000;

/**
 * Rules in effect that decided about no job of the caller's tenant in a period, and topics that no rule covers, cached for 60 s.
 * See docs/reference/governance.md#policy-coverage.
 *
 * @throws invalid_body
 */
export async function policyCoverage(deps: GovernanceDeps, caller: Caller, query: WindowQuery): Promise<CoverageView> {
  const window = toWindow(query, deps.clock.nowMs());
  const { tenant } = caller;
  const key = ['coverage', tenant, caller.scope, query.window, query.since, query.until];
  const read = async (): Promise<CoverageView> => {
    const [rules, registered, matches, defaults] = await Promise.all([
      readRules(deps, caller),
      readTopics(deps, tenant),
      deps.decisionLog.ruleMatches(tenant),
      deps.decisionLog.defaultedTopics(tenant),
    ]);
    const isMatched = ({ id }: RuleView) => (matches.get(id) ?? 0) >= window.fromMs;
    const unmatched = rules.filter((rule) => !isMatched(rule));
    const covers = measureCoverage(rules);
    const uncovered = registered.filter((topic) => !covers(topic));
    const defaulted = new Map([...defaults].filter(([, atMs]) => atMs >= window.fromMs));
    const names = [...new Set([...uncovered, ...defaulted.keys()])].sort();
    return {
      window: toWindowView(window),
      rules: {
        total: rules.length,
        matched: rules.length - unmatched.length,
        unmatched: unmatched.map(({ id, decision, tier, source }) => ({
          ...{ rule_id: id, decision, tier, fragment_id: source.fragment_id },
          last_matched_at: toText(matches.get(id)),
        })),
      },
      topics: {
        total: registered.length,
        covered: registered.length - uncovered.length,
        uncovered: names.map((topic): UncoveredTopicView => ({
          topic,
          registered: registered.includes(topic),
          defaulted_at: toText(defaulted.get(topic)),
        })),
      },
    };
  };
  return deps.cache.read(key, keepMs, read).result;
}

/** Topics that are registered for a tenant, and how many of them match a rule. */
export async function countCoverage(
  deps: CoverageDeps,
  caller: Caller,
): Promise<{ topics: number; covered: number; ratio: number | null }> {
  // prettier-ignore
  const [rules, registered] = await Promise.all([readRules(deps, caller), readTopics(deps, caller.tenant)]);
  const covered = registered.filter(measureCoverage(rules)).length;
  return { topics: registered.length, covered, ratio: registered.length > 0 ? covered / registered.length : null };
}

const readRules = async (deps: CoverageDeps, caller: Caller): Promise<RuleView[]> =>
  (await listRules(deps, caller, { include_disabled: false })).items;

async function readTopics({ topics }: Pick<GovernanceDeps, 'topics'>, tenant: string): Promise<string[]> {
  return [...(await topics.registry.list(tenant)).entries].map(({ name }) => name);
}

const anyTopic = ['*'];

/** A topic is covered when a rule without topics, or one of the topics of a rule, matches it. */
function measureCoverage(rules: readonly RuleView[]): (topic: string) => boolean {
  const globs = new Set(rules.flatMap(({ match }) => topicsIn(match)));
  const matchers = [...globs].map((glob) => topicGlob(glob));
  return (topic) => matchers.some((matches) => matches(topic.toLowerCase()));
}

/** Rules are validated policy documents; their views have fields of any type. */
function topicsIn(match: unknown): string[] {
  const topics = (match as { topics?: unknown } | undefined)?.topics;
  return Array.isArray(topics) && topics.length > 0 ? topics.map(String) : anyTopic;
}

const toText = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());
