import { toAuditEvent } from '@svc/audit-chain';
import type { AuditEvent, DecisionVerdict, ResolutionOutcome } from '@svc/contract';
import { keys, type AuditRepository, type JobRecord, type Store, type StoredAuditEvent } from '@svc/store';
import type { DecisionLog, LoggedDecision, LoggedResolution } from './decision-log';

export interface FollowDeps {
  store: Pick<Store, 'redis'> & {
    audit: Pick<AuditRepository, 'eventAt' | 'range' | 'tenants'>;
    jobs: Pick<Store['jobs'], 'load'>;
    keys: Pick<typeof keys, 'governanceMarks'>;
  };
  log: Pick<DecisionLog, 'appendDecisions' | 'appendResolutions'>;
}

const BATCH = 500;

const verdicts: Readonly<Record<string, DecisionVerdict>> = {
  ALLOW: 'allow',
  DENY: 'deny',
  ALLOW_WITH_CONSTRAINTS: 'constrain',
  REQUIRE_APPROVAL: 'require_approval',
  THROTTLE: 'throttle',
};

/**
 * Derives the decision log from the audit chains. Positions are sequence numbers of the chain, so that a batch may be repeated
 * after a crash.
 */
export class AuditFollower {
  /** Id of the newest event that was read, by tenant. */
  private readonly positions = new Map<string, string>();

  constructor(private readonly deps: FollowDeps) {}

  /** Reads what was added to all chains. */
  async follow(): Promise<void> {
    for (const tenant of await this.deps.store.audit.tenants()) await this.followTenant(tenant);
  }

  private async followTenant(tenant: string): Promise<void> {
    const { audit } = this.deps.store;
    let position = this.positions.get(tenant) ?? (await this.findStart(tenant));
    for (;;) {
      const batch = await audit.range(tenant, position, '+', BATCH);
      await this.append(tenant, batch);
      const last = batch.at(-1);
      if (last) position = `(${last.id}`;
      this.positions.set(tenant, position);
      if (batch.length < BATCH) return;
    }
  }

  /** After the older of the newest entries of both logs: what is read twice is ignored. */
  private async findStart(tenant: string): Promise<string> {
    const { redis, keys: names, audit } = this.deps.store;
    const marks = await redis.hmget(names.governanceMarks(tenant), 'decisions', 'resolutions');
    const known = marks.filter((mark) => mark !== null).map(Number);
    const event = known.length === 0 ? null : await audit.eventAt(tenant, Math.min(...known));
    return event ? event.id : '-';
  }

  private async append(tenant: string, batch: readonly StoredAuditEvent[]): Promise<void> {
    const decisions: LoggedDecision[] = [];
    const resolutions: LoggedResolution[] = [];
    for (const stored of batch) {
      if (!stored.text.includes('"safety.decision"') && !stored.text.includes('"approval":')) continue;
      const event = toAuditEvent(stored);
      const decision = toDecision(event);
      if (decision) decisions.push(decision);
      if (event.job_id === undefined || !event.extra?.['approval']) continue;
      const resolution = toResolution(event, await this.deps.store.jobs.load(event.job_id));
      if (resolution) resolutions.push(resolution);
    }
    if (decisions.length > 0) await this.deps.log.appendDecisions(tenant, decisions);
    if (resolutions.length > 0) await this.deps.log.appendResolutions(tenant, resolutions);
  }
}

function toDecision(event: AuditEvent): LoggedDecision | undefined {
  const verdict = event.event_type === 'safety.decision' ? verdicts[event.decision ?? ''] : undefined;
  if (!verdict || event.job_id === undefined) return undefined;
  return {
    position: event.seq,
    atMs: Date.parse(event.timestamp),
    jobId: event.job_id,
    topic: event.extra?.['topic'] ?? '',
    ruleId: event.matched_rule ?? '',
    verdict,
    reason: event.reason ?? '',
    constraints: '',
    agentId: event.agent_id ?? '',
    principalId: event.identity ?? '',
    capability: event.capabilities?.[0] ?? '',
    riskTags: event.risk_tags ?? [],
    packId: '',
    policyVersion: (event.policy_version ?? '').split('|')[0] ?? '',
  };
}

const outcomes: Readonly<Record<string, ResolutionOutcome>> = {
  approved: 'approved',
  rejected: 'rejected',
  invalidated: 'invalidated',
};

/** @param job its record, which has the time of the hold */
function toResolution(event: AuditEvent, job: JobRecord | undefined): LoggedResolution | undefined {
  const { approval: status = '', role = '', topic = '', to } = event.extra ?? {};
  const outcome = outcomes[status];
  if (!outcome || to === 'APPROVAL_REQUIRED') return undefined;
  const atMs = Date.parse(event.timestamp);
  const heldAtUs = job?.safety?.checked_at ?? job?.created_at;
  return {
    position: event.seq,
    atMs,
    heldAtMs: heldAtUs === undefined ? atMs : Math.floor(heldAtUs / 1_000),
    jobId: event.job_id ?? '',
    topic,
    ruleId: job?.safety?.rule_id ?? event.matched_rule ?? '',
    agentId: job?.request.agent_id ?? event.agent_id ?? '',
    outcome: job?.approval?.decision === 'expire' ? 'expired' : outcome,
    by: event.identity ?? '',
    role,
    reason: event.reason ?? '',
  };
}
