import { JobPriority, parsePriority, priorityName } from '@svc/contract';
import type { PolicyDecision, PolicyRequest, RuleTrace } from '@svc/policy';
import type { ExplainedDecision, PolicyTrial } from '../kernel';

/** Objects as gRPC encodes them with `wireOptions` of the contract. See docs/reference/policy.md#kernel. */
export interface PolicyCheckRequestMessage {
  job_id: string;
  topic: string;
  tenant: string;
  priority: number | string;
  estimated_cost: number;
  budget?: object | null;
  principal_id: string;
  labels: Record<string, string>;
  memory_id: string;
  effective_config: Uint8Array;
  meta?: MetaMessage | null;
  input_content: Uint8Array;
  input_content_type: string;
  input_size_bytes: number;
  server_facts: Uint8Array;
  trial?: TrialMessage | null;
}

interface TrialMessage {
  bundle_id: string;
  content: string;
  without: readonly string[];
}

interface MetaMessage {
  tenant_id: string;
  actor_id: string;
  actor_type: string;
  idempotency_key: string;
  capability: string;
  risk_tags: readonly string[];
  requires: readonly string[];
  pack_id: string;
  labels: Record<string, string>;
}

export interface PolicyCheckResponseMessage {
  decision: string;
  reason: string;
  policy_snapshot: string;
  rule_id: string;
  constraints?: object | null;
  approval_required: boolean;
  approval_ref: string;
  remediations: readonly RemediationMessage[];
  throttle_duration_ms: number;
  trace: readonly TraceMessage[];
  trace_total: number;
}

interface TraceMessage {
  set: string;
  rule_id: string;
  source: string;
  decision: string;
  outcome: string;
  failed: string;
}
type RemediationMessage = PolicyDecision['remediations'][number];

const decisionTypes = {
  ALLOW: 'DECISION_TYPE_ALLOW',
  DENY: 'DECISION_TYPE_DENY',
  REQUIRE_APPROVAL: 'DECISION_TYPE_REQUIRE_HUMAN',
  THROTTLE: 'DECISION_TYPE_THROTTLE',
  ALLOW_WITH_CONSTRAINTS: 'DECISION_TYPE_ALLOW_WITH_CONSTRAINTS',
} as const satisfies Record<PolicyDecision['decision'], string>;

function isVerdict(word: string): word is PolicyDecision['decision'] {
  return Object.hasOwn(decisionTypes, word);
}

/** The same, read from the wire. */
const verdicts: ReadonlyMap<string, PolicyDecision['decision']> = new Map(
  Object.entries(decisionTypes).flatMap(([verdict, type]) => (isVerdict(verdict) ? [[type, verdict]] : [])),
);

/** Facts without a separate field on the wire. */
const serverFacts = ['server_labels', 'org_id', 'team_id', 'workflow_id', 'step_id', 'action', 'agent', 'delegation', 'risk_tag_deriver', 'prior_permit'] as const satisfies readonly (keyof PolicyRequest)[]; // prettier-ignore

const nothing = Buffer.alloc(0);
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const parsed = (bytes: Uint8Array): unknown =>
  bytes.length === 0 ? undefined : JSON.parse(Buffer.from(bytes).toString());

/** The request message; kernels without `server_facts` still get every label. */
export function checkRequestMessage(request: PolicyRequest, trial?: PolicyTrial): PolicyCheckRequestMessage {
  const { input_content: content, meta } = request;
  const facts = serverFacts.filter((name) => request[name] !== undefined);
  return {
    job_id: request.job_id ?? '',
    topic: request.topic,
    tenant: request.tenant ?? '',
    priority: priorityNumber(request.priority),
    estimated_cost: request.estimated_cost ?? 0,
    budget: typeof request.budget === 'object' ? request.budget : null,
    principal_id: request.principal_id ?? '',
    labels: { ...request.labels, ...request.server_labels },
    memory_id: request.memory_id ?? '',
    effective_config: request.effective_config === undefined ? nothing : json(request.effective_config),
    meta: meta ? metaMessage(meta) : null,
    input_content: content === undefined ? nothing : Buffer.from(content),
    input_content_type: request.input_content_type ?? '',
    input_size_bytes: request.input_size_bytes ?? content?.length ?? 0,
    server_facts: facts.length > 0 ? json(Object.fromEntries(facts.map((name) => [name, request[name]]))) : nothing,
    ...(trial && { trial: trialMessage(trial) }),
  };
}

const trialMessage = ({ candidate, without = [] }: PolicyTrial): TrialMessage => ({
  bundle_id: candidate?.id ?? '',
  content: candidate?.content ?? '',
  without,
});

/** Differences to simulate; undefined: the policy in effect. */
export function toTrial({ trial }: PolicyCheckRequestMessage): PolicyTrial | undefined {
  if (!trial) return undefined;
  const { bundle_id: id, content, without } = trial;
  const parts = (['velocity', 'content'] as const).filter((part) => without.includes(part));
  return { ...(id !== '' && { candidate: { id, content } }), ...(parts.length > 0 && { without: parts }) };
}

/** @throws SyntaxError when a JSON field is invalid */
export function toCheckRequest(message: PolicyCheckRequestMessage): PolicyRequest {
  const { meta, input_content, input_size_bytes } = message;
  const facts = parsed(message.server_facts);
  const config = parsed(message.effective_config);
  const known: Partial<PolicyRequest> =
    typeof facts === 'object' && facts !== null
      ? Object.fromEntries(Object.entries(facts).filter(([name]) => serverFacts.some((fact) => fact === name)))
      : {};
  return {
    topic: message.topic,
    labels: message.labels,
    ...filled({
      job_id: message.job_id,
      tenant: message.tenant,
      principal_id: message.principal_id,
      memory_id: message.memory_id,
      estimated_cost: message.estimated_cost,
      input_content_type: message.input_content_type,
      priority: priorityText(message.priority),
    }),
    ...(message.budget && { budget: message.budget }),
    ...(config !== undefined && { effective_config: config }),
    ...(meta && { meta: toMeta(meta) }),
    ...(input_content.length > 0 && { input_content }),
    ...(input_size_bytes > input_content.length && { input_size_bytes }),
    ...known,
  };
}

export function checkResponseMessage(decision: PolicyDecision | ExplainedDecision): PolicyCheckResponseMessage {
  return {
    decision: decisionTypes[decision.decision],
    reason: decision.reason,
    policy_snapshot: decision.policy_snapshot,
    rule_id: decision.rule_id,
    constraints: decision.constraints ?? null,
    approval_required: decision.approval_required,
    approval_ref: decision.approval_ref ?? '',
    remediations: decision.remediations,
    throttle_duration_ms: decision.throttle_duration_ms ?? 0,
    trace: 'trace' in decision ? decision.trace.map(traceMessage) : [],
    trace_total: 'trace' in decision ? decision.trace_total : 0,
  };
}

const traceMessage = ({ ruleId, verdict, failed = '', ...entry }: RuleTrace): TraceMessage => ({
  ...entry,
  rule_id: ruleId,
  decision: decisionTypes[verdict],
  failed,
});

/** @returns undefined for a decision this version does not know; rules of kinds it does not know are left out */
export function toExplanation(message: PolicyCheckResponseMessage): ExplainedDecision | undefined {
  const decision = toDecision(message);
  return decision && { ...decision, trace: message.trace.flatMap(toRuleTrace), trace_total: message.trace_total };
}

const sets = ['invariants', 'velocity', 'job', 'workflow', 'global', 'invariant_allows', 'content'] as const satisfies readonly RuleTrace['set'][]; // prettier-ignore
const outcomes = ['matched', 'not_matched', 'other_section', 'unavailable'] as const satisfies readonly RuleTrace['outcome'][]; // prettier-ignore

function toRuleTrace({ rule_id: ruleId, source, failed, ...entry }: TraceMessage): RuleTrace[] {
  const set = sets.find((word) => word === entry.set);
  const outcome = outcomes.find((word) => word === entry.outcome);
  const verdict = verdicts.get(entry.decision);
  if (!set || !outcome || !verdict) return [];
  return [{ set, ruleId, source, verdict, outcome, ...(failed !== '' && { failed }) }];
}

/** The name of a decision on the wire. */
export const decisionType = (verdict: PolicyDecision['decision']): string => decisionTypes[verdict];

/** @returns undefined for a decision this version does not know, which must not count as a decision */
export function toDecision(message: PolicyCheckResponseMessage): PolicyDecision | undefined {
  const verdict = verdicts.get(message.decision);
  if (!verdict) return undefined;
  const constraints: PolicyDecision['constraints'] = message.constraints ? pruned(message.constraints) : {};
  return {
    decision: verdict,
    reason: message.reason,
    rule_id: message.rule_id,
    policy_snapshot: message.policy_snapshot,
    remediations: message.remediations.map((entry) => ({ id: entry.id, ...pruned(entry) })),
    approval_required: message.approval_required,
    ...(Object.keys(constraints).length > 0 && { constraints }),
    ...filled({ approval_ref: message.approval_ref, throttle_duration_ms: message.throttle_duration_ms }),
  };
}

const priorityNumber = (priority: string | number | undefined): number =>
  typeof priority === 'number' ? priority : (parsePriority(priority ?? '') ?? JobPriority.JOB_PRIORITY_UNSPECIFIED);

/** What a priority is called here, by its name on the wire. */
const priorityTexts: ReadonlyMap<string, string> = new Map(
  Object.entries(JobPriority).flatMap(([name, number]) =>
    typeof number === 'number' && number > 0 ? [[name, priorityName(number)]] : [],
  ),
);

const priorityText = (priority: string | number): string => priorityTexts.get(String(priority)) ?? '';

const metaMessage = (meta: NonNullable<PolicyRequest['meta']>): MetaMessage => ({
  tenant_id: meta.tenant_id ?? '',
  actor_id: meta.actor_id ?? '',
  actor_type: actorTypes[meta.actor_type ?? ''] ?? 'ACTOR_TYPE_UNSPECIFIED',
  idempotency_key: meta.idempotency_key ?? '',
  capability: meta.capability ?? '',
  risk_tags: meta.risk_tags ?? [],
  requires: meta.requires ?? [],
  pack_id: meta.pack_id ?? '',
  labels: { ...meta.labels },
});

const actorTypes: Readonly<Record<string, string>> = { human: 'ACTOR_TYPE_HUMAN', service: 'ACTOR_TYPE_SERVICE' };

const toMeta = ({
  actor_type,
  risk_tags,
  requires,
  labels,
  ...texts
}: MetaMessage): NonNullable<PolicyRequest['meta']> => ({
  ...filled({ ...texts, actor_type: Object.entries(actorTypes).find(([, type]) => type === actor_type)?.[0] ?? '' }),
  risk_tags,
  requires,
  labels,
});

/** Omits empty texts and zeros, which proto3 treats as absent. */
function filled<T extends Record<string, string | number>>(fields: T): Partial<T> {
  const kept: Partial<T> = {};
  for (const name in fields) if (fields[name] !== '' && fields[name] !== 0) kept[name] = fields[name];
  return kept;
}

/** The same for a message with messages, lists and maps in it. */
function pruned<T extends object>(message: T): Partial<T> {
  const isEmpty = (value: unknown) =>
    value === null || value === undefined || value === '' || value === 0 || value === false ||
    (typeof value === 'object' && Object.keys(value).length === 0); // prettier-ignore
  const fields = Object.entries(message).map(([name, value]: [string, unknown]) => {
    const isMessage = typeof value === 'object' && value !== null && !Array.isArray(value);
    return [name, isMessage ? pruned(value) : value] as const;
  });
  return Object.fromEntries(fields.filter(([, value]) => !isEmpty(value))) as Partial<T>;
}
