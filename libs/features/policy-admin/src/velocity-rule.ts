import {
  AppError,
  velocityDecisions,
  type Problem,
  type VelocityBody,
  type VelocityDecision,
  type VelocityFields,
  type VelocityRuleView,
} from '@svc/contract';
import type { BundleRecord, PolicyDocument } from '@svc/policy';
import { formatDuration, parseDuration } from '@svc/runtime';
import { stringify } from 'yaml';

const prefix = 'velocity/';
const MAX_WINDOW_MS = 86_400_000;
const version = '1';

/** The bundle that holds a velocity rule. See docs/reference/policy.md#velocity. */
export const velocityBundle = (id: string): string => `${prefix}${id}`;
export const isVelocityBundle = (bundleId: string): boolean => bundleId.startsWith(prefix);
export const toVelocityId = (bundleId: string): string => bundleId.slice(prefix.length);

/**
 * The text of the bundle of one velocity rule.
 *
 * @throws velocity_rule_invalid
 */
export function velocityContent(id: string, body: VelocityFields): string {
  const { name, match, window, key, threshold, decision, reason, throttle_duration } = body;
  const windowMs = parseDuration(window) ?? 0;
  if (windowMs < 1_000 || windowMs > MAX_WINDOW_MS || windowMs % 1_000 !== 0) {
    throw invalidRule('window', 'must be whole seconds from 1s to 24h, such as 30s, 5m or 1h');
  }
  const listed = Object.entries(match).filter(([, words]) => (words as string[]).length > 0);
  const rule = {
    id,
    description: name,
    ...(listed.length > 0 && { match: Object.fromEntries(listed) as object }),
    velocity: { max_requests: threshold, window_seconds: windowMs / 1_000, key },
    decision,
    reason,
    ...(decision === 'throttle' && { throttle_duration: throttle_duration ?? window }),
  };
  return stringify({ version, rules: [rule] }, { lineWidth: 0 });
}

/** The velocity rule that a stored bundle holds; undefined when it holds anything else. */
export function velocityView(id: string, record: BundleRecord, document: PolicyDocument): VelocityRuleView | undefined {
  const [rule, ...others] = document.rules;
  const decision = velocityDecisions.find((word) => word === rule?.decision);
  if (!rule?.velocity || !decision || others.length > 0) return undefined;
  const { description = id, match, velocity, reason = '', throttle_duration } = rule;
  const { topics = [], tenants = [], risk_tags = [] } = match ?? {};
  return {
    id,
    name: description,
    match: { topics, tenants, risk_tags },
    window: formatWindow(velocity.window_seconds),
    key: velocity.key,
    threshold: velocity.max_requests,
    decision: decision satisfies VelocityDecision,
    reason,
    enabled: record.enabled,
    ...(record.created_at && { created_at: record.created_at }),
    ...(record.updated_at && { updated_at: record.updated_at }),
    ...(throttle_duration && { throttle_duration }),
  };
}

/** Formats in hours at most: a day is 24h. */
function formatWindow(seconds: number): string {
  const text = formatDuration(seconds * 1_000);
  return text === '1d' ? '24h' : text;
}

/**
 * The id derived from a name: `Refunds per customer` becomes refunds-per-customer.
 *
 * @throws velocity_rule_invalid
 */
export function velocityId({ id, name }: Pick<VelocityBody, 'id' | 'name'>): string {
  if (id !== undefined) return id;
  const made = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 64)
    .replace(/-+$/, '');
  if (made === '') throw invalidRule('id', 'cannot be made from this name: send one');
  return made;
}

const bodyFields: Readonly<Record<string, string>> = {
  topics: 'match',
  tenants: 'match',
  risk_tags: 'match',
  max_requests: 'threshold',
  window_seconds: 'window',
  description: 'name',
};

/** Maps a problem of the policy language to the field of the body that caused it. */
export function asInvalidRule([problem]: readonly Problem[]): AppError {
  const key = /(\w+)(\[\d+\])?$/.exec(problem?.path ?? '')?.[1] ?? '';
  return invalidRule(bodyFields[key] ?? key, problem?.message ?? 'is not valid');
}

export const invalidRule = (field: string, message: string): AppError =>
  new AppError('velocity_rule_invalid', {
    error: `${field} ${message}`,
    violations: [{ in: 'body', field, path: field, message }],
  });
