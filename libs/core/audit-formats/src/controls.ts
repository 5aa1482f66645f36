import { isRecord } from '@svc/json';
import type { EventFacts } from './event-text';

/** Events that are evidence for a control. In every text `*` stands for any characters, at its begin or end. */
export interface ControlRule {
  event_type: string;
  decision?: string;
  action?: string;
}

export interface Control {
  title: string;
  events: readonly ControlRule[];
}

/** Controls by id, such as `CC6.1`. */
export type Controls = Readonly<Record<string, Control>>;

/** The criteria of SOC 2 for which the audit chain has evidence. SVC_SOC2_MAPPING_PATH replaces them. */
export const soc2Controls: Controls = {
  'CC6.1': {
    title: 'Logical access controls',
    events: [
      { event_type: 'system.auth' },
      { event_type: 'safety.approval' },
      { event_type: 'mcp.tool_approval' },
      { event_type: 'worker_trust_change' },
    ],
  },
  'CC6.3': {
    title: 'Access revocation',
    events: [
      { event_type: 'mcp.tool_approval', action: '*revoke*' },
      { event_type: 'worker_trust_change', action: '*revoked' },
    ],
  },
  'CC7.2': {
    title: 'Monitoring of system components',
    events: [
      { event_type: 'safety.decision' },
      { event_type: 'safety.approval' },
      { event_type: 'mcp.tool_approval' },
      { event_type: 'shadow_eval' },
      { event_type: 'shadow_agent.*' },
    ],
  },
  'CC7.3': {
    title: 'Detection of security incidents',
    events: [
      { event_type: 'safety.decision', decision: 'deny' },
      { event_type: 'safety.violation' },
      { event_type: 'mcp.tool_denied' },
    ],
  },
  'CC8.1': {
    title: 'Change management',
    events: [
      { event_type: 'safety.policy_change' },
      { event_type: 'governance.config_change' },
      { event_type: 'governance.workflow_change' },
      { event_type: 'shadow_agent.*' },
    ],
  },
};

/** Titles by id. */
export const controlLegend = (controls: Controls): Record<string, string> =>
  Object.fromEntries(Object.entries(controls).map(([id, { title }]) => [id, title]));

const MAX_KNOWN = 5_000;

/** Finds the controls of events. What was found is kept, because few combinations occur. */
export function controlFinder(controls: Controls): (facts: EventFacts) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  const entries = Object.entries(controls);
  return (facts) => {
    const name = `${facts.type}\n${facts.decision}\n${facts.action}`;
    const found = known.get(name);
    if (found) return found;
    const ids = entries.filter(([, { events }]) => events.some((rule) => fits(rule, facts))).map(([id]) => id);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(name, ids);
    return ids;
  };
}

const fits = ({ event_type, decision, action }: ControlRule, facts: EventFacts): boolean =>
  matches(event_type, facts.type) &&
  (decision === undefined || matches(decision, facts.decision)) &&
  (action === undefined || matches(action, facts.action));

function matches(pattern: string, value: string): boolean {
  const [wanted, text] = [pattern.toLowerCase(), value.toLowerCase()];
  const [fromStart, toEnd] = [!wanted.startsWith('*'), !wanted.endsWith('*')];
  const core = wanted.slice(fromStart ? 0 : 1, toEnd ? undefined : -1);
  if (fromStart && toEnd) return text === core;
  if (fromStart) return text.startsWith(core);
  return toEnd ? text.endsWith(core) : text.includes(core);
}

/**
 * Reads a mapping: `{"<id>": {"title": "…", "events": ["<event_type>", {"event_type", "decision", "action"}]}}`.
 *
 * @throws Error naming the place that is not valid
 */
export function readControls(value: unknown): Controls {
  if (!isRecord(value)) throw new Error('it must be an object with an entry for each control');
  return Object.fromEntries(
    Object.entries(value).map(([id, control]) => {
      if (!isRecord(control) || typeof control['title'] !== 'string' || !Array.isArray(control['events']))
        throw new Error(`${id} must have a title and a list of events`);
      return [id, { title: control['title'], events: control['events'].map((rule: unknown) => readRule(id, rule)) }];
    }),
  );
}

function readRule(id: string, rule: unknown): ControlRule {
  if (typeof rule === 'string') return { event_type: rule };
  const isRule =
    isRecord(rule) &&
    typeof rule['event_type'] === 'string' &&
    Object.entries(rule).every(
      ([name, value]) => ['event_type', 'decision', 'action'].includes(name) && typeof value === 'string',
    );
  if (!isRule) throw new Error(`an event of ${id} must be a type, or an object of event_type, decision and action`);
  return rule as unknown as ControlRule;
}
