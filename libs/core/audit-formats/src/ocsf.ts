import type { AuditSeverity } from '@svc/contract';
import type { ShownEvent } from './event-text';

/** Version of the Open Cybersecurity Schema Framework. */
const OCSF_VERSION = '1.3.0';

const levels: Readonly<Record<AuditSeverity, readonly [number, string]>> = {
  INFO: [1, 'Informational'],
  LOW: [2, 'Low'],
  MEDIUM: [3, 'Medium'],
  HIGH: [4, 'High'],
  CRITICAL: [5, 'Critical'],
};

interface EventClass {
  uid: number;
  name: string;
  category: readonly [number, string];
}

const classes = {
  detection: { uid: 2004, name: 'Detection Finding', category: [2, 'Findings'] },
  authentication: { uid: 3002, name: 'Authentication', category: [3, 'Identity & Access Management'] },
  api: { uid: 6003, name: 'API Activity', category: [6, 'Application Activity'] },
} as const satisfies Record<string, EventClass>;

/** Activities of API Activity, by the last word of the action. */
const activities: Readonly<Record<string, readonly [number, string]>> = {
  ...words(1, 'Create', ['create', 'created', 'add', 'issue', 'issued', 'submit', 'register', 'start', 'acquire', 'put']),
  ...words(2, 'Read', ['read', 'get', 'list', 'export', 'search']),
  ...words(3, 'Update', ['update', 'set', 'write', 'publish', 'renew', 'approve', 'reject', 'repair', 'resume', 'drain']),
  ...words(4, 'Delete', ['delete', 'deleted', 'remove', 'revoke', 'revoked', 'cancel', 'release', 'released']),
}; // prettier-ignore

function words(id: number, name: string, verbs: readonly string[]): Record<string, readonly [number, string]> {
  return Object.fromEntries(verbs.map((verb) => [verb, [id, name] as const]));
}

/**
 * An event of the class of OCSF 1.3 that fits: Detection Finding for what policy refused or withheld, Authentication for
 * sign-ins, API Activity for everything else. Fields without a place in the schema are in `unmapped`.
 *
 * @param version of the product
 */
export function ocsfEvent(event: ShownEvent, version: string): Record<string, unknown> {
  const kind = findClass(event);
  const { uid, name, category }: EventClass = classes[kind];
  const [activity, activityName] = findActivity(kind, event);
  const [severity, severityName] = levels[event.severity] ?? [0, 'Unknown'];
  const { extra = {}, identity, agent_id, agent_name } = event;
  const isRefused = /^(deny|unavailable)$/i.test(event.decision ?? '');
  return {
    class_uid: uid,
    class_name: name,
    category_uid: category[0],
    category_name: category[1],
    activity_id: activity,
    activity_name: activityName,
    type_uid: uid * 100 + activity,
    type_name: `${name}: ${activityName}`,
    time: Date.parse(event.timestamp),
    severity_id: severity,
    severity: severityName,
    status_id: isRefused ? 2 : 1,
    status: isRefused ? 'Failure' : 'Success',
    ...(event.reason && { message: event.reason }),
    metadata: {
      version: OCSF_VERSION,
      product: { name: 'control-plane', vendor_name: 'svc', version },
      uid: event.event_hash,
      sequence: event.seq,
      original_time: event.timestamp,
      event_code: event.event_type,
      log_name: 'audit',
      tenant_uid: event.tenant_id,
      ...(extra['request_id'] && { correlation_uid: extra['request_id'] }),
    },
    actor: {
      user: { uid: identity || 'service', name: identity || 'service', type_id: identity ? 1 : 3 },
      ...(agent_id && { app_name: agent_name || agent_id, app_uid: agent_id }),
    },
    ...(kind === 'authentication' && { user: { uid: identity || 'unknown', name: identity || 'unknown' } }),
    ...(kind === 'detection' && {
      finding_info: {
        uid: event.event_hash,
        title: `${event.event_type}: ${event.action}`,
        created_time: Date.parse(event.timestamp),
        ...(event.matched_rule && { analytic: { type_id: 1, uid: event.matched_rule, name: event.matched_rule } }),
      },
    }),
    ...(kind === 'api' && {
      api: {
        operation: event.action,
        service: { name: 'control-plane' },
        ...(extra['request_id'] && { request: { uid: extra['request_id'] } }),
      },
    }),
    src_endpoint: extra['source_ip'] ? { ip: extra['source_ip'] } : { svc_name: 'control-plane' },
    ...resources(event),
    unmapped: unmapped(event),
  };
}

function findClass({ event_type, decision }: ShownEvent): keyof typeof classes {
  if (event_type === 'system.auth') return 'authentication';
  const isFinding =
    /^(safety\.violation|actiongate\.denied|mcp\.tool_denied)$/.test(event_type) ||
    (event_type === 'safety.decision' && /^deny$/i.test(decision ?? ''));
  return isFinding ? 'detection' : 'api';
}

function findActivity(kind: keyof typeof classes, { action }: ShownEvent): readonly [number, string] {
  if (kind === 'detection') return [1, 'Create'];
  if (kind === 'authentication') return action === 'auth.sign_out' ? [2, 'Logoff'] : [1, 'Logon'];
  const verb = action.slice(Math.max(action.lastIndexOf('.'), action.lastIndexOf('_')) + 1).toLowerCase();
  return activities[verb] ?? [99, 'Other'];
}

function resources({ job_id, extra = {} }: ShownEvent): { resources?: unknown[] } {
  const named = extra['resource_id'] ? [{ type: extra['resource_type'] ?? 'resource', uid: extra['resource_id'] }] : [];
  const job = job_id && extra['resource_id'] !== job_id ? [{ type: 'job', uid: job_id }] : [];
  const all = [...named, ...job];
  return all.length > 0 ? { resources: all } : {};
}

function unmapped(event: ShownEvent): Record<string, unknown> {
  const { prev_hash, hmac, matched_rule, policy_version, risk_tags, capabilities, agent_risk_tier, extra, decision } =
    event;
  return {
    event_type: event.event_type,
    action: event.action,
    event_hash: event.event_hash,
    ...(prev_hash && { prev_hash }),
    ...(hmac && { hmac }),
    ...(decision && { decision }),
    ...(matched_rule && { matched_rule }),
    ...(policy_version && { policy_version }),
    ...(risk_tags?.length && { risk_tags }),
    ...(capabilities?.length && { capabilities }),
    ...(agent_risk_tier && { agent_risk_tier }),
    ...(extra && { extra }),
    ...(event.redacted && { redacted: event.redacted }),
  };
}
