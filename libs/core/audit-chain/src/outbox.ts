import type { AuditAct, AuditFact } from '@svc/contract';

/*
 * Lines of the audit outbox. Scripts append them with the change that they record (libs/store/src/scripts/include/base.lua), in
 * columns that are separated by tabs, because a script that writes JSON costs more than the change:
 *
 *   act  tenant  µs  act (JSON)  hash of the content that was replaced
 *   job  tenant  µs  id  event  from  to  topic  run  attempt  worker  error code  decision (JSON)  approval (JSON)  request (JSON)  submitter  job hash
 *   run  tenant  µs  id  workflow  from  to
 */

interface Decision {
  decision?: string;
  reason?: string;
  rule_id?: string;
  policy_snapshot?: string;
}

interface Request {
  principal_id?: string;
  agent_id?: string;
  labels?: Record<string, string>;
  risk_tags?: string[];
  capability?: string;
}

interface Approval {
  status?: string;
  resolved_by?: string;
  resolved_role?: string;
  reason?: string;
}

const severities: Readonly<Record<string, AuditAct['severity']>> = {
  DENY: 'HIGH',
  UNAVAILABLE: 'HIGH',
  REQUIRE_APPROVAL: 'MEDIUM',
  THROTTLE: 'MEDIUM',
  ALLOW_WITH_CONSTRAINTS: 'LOW',
};

const read = <T>(text: string | undefined): T | undefined => (text ? (JSON.parse(text) as T) : undefined);

/** Reads the lines of an entry. @throws Error on a line that no script writes */
export const readOutbox = (lines: string): AuditFact[] => lines.split('\n').map(readLine);

function readLine(line: string): AuditFact {
  const [kind, tenant = '', stamp = '', ...columns] = line.split('\t');
  const head = { tenant_id: tenant, timestamp: toTimestamp(Number(stamp)) };
  switch (kind) {
    case 'act':
      return { ...readAct(columns[0] ?? '', columns[1] ?? ''), ...head };
    case 'job':
      return readJob(head, columns);
    case 'run': {
      const [id = '', workflow_id = '', from = '', to = ''] = columns;
      const extra = { run_id: id, workflow_id, from, to };
      return { ...head, event_type: 'run.transition', action: `run.${to}`, severity: 'INFO', extra };
    }
    default:
      throw new Error(`the audit outbox has a line of kind ${String(kind).slice(0, 20)}`);
  }
}

function readAct(text: string, contentBefore: string): AuditAct {
  const act = JSON.parse(text) as Partial<AuditAct>;
  for (const field of ['event_type', 'action', 'severity'] as const) {
    if (typeof act[field] !== 'string') throw new Error(`the audit outbox has an act without ${field}`);
  }
  if (contentBefore === '') return act as AuditAct;
  return { ...(act as AuditAct), extra: { ...act.extra, before_hash: contentBefore } };
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Fields are assigned one by one, in the order of the canonical form: this runs for every change of a job. */
function readJob(head: Pick<AuditFact, 'tenant_id' | 'timestamp'>, columns: readonly string[]): AuditFact {
  const [id = '', event = '', from = '', to = '', topic = '', run = '', attempt = '', worker = '', error = ''] =
    columns;
  const decision = read<Decision>(columns[9]);
  const approval = read<Approval>(columns[10]);
  const request = read<Request>(columns[11]);
  const [submitter = '', jobHash = ''] = [columns[12], columns[13]];
  const resolved = approval?.status && approval.status !== 'pending' ? approval : undefined;
  const isWithheld = to === 'OUTPUT_QUARANTINED';

  const extra: Record<string, string> = {};
  if (resolved?.status) extra['approval'] = resolved.status;
  if (attempt !== '' && attempt !== '0') extra['attempt'] = attempt;
  if (error !== '') extra['error_code'] = error;
  if (from !== '') extra['from'] = from;
  if (jobHash !== '') extra['job_hash'] = jobHash;
  if (resolved?.resolved_role) extra['role'] = resolved.resolved_role;
  if (run !== '') extra['run_id'] = run;
  extra['to'] = to;
  extra['topic'] = topic;
  if (worker !== '') extra['worker_id'] = worker;

  const fact: Writable<AuditFact> = {
    tenant_id: head.tenant_id,
    timestamp: head.timestamp,
    event_type: decision ? 'safety.decision' : isWithheld ? 'safety.violation' : 'job.transition',
    action: `job.${event}`,
    severity: (decision && severities[decision.decision ?? '']) ?? (isWithheld ? 'HIGH' : 'INFO'),
    job_id: id,
    extra,
  };
  if (decision?.decision) fact.decision = decision.decision;
  if (decision?.rule_id) fact.matched_rule = decision.rule_id;
  if (decision?.policy_snapshot) fact.policy_version = decision.policy_snapshot;
  const reason = decision?.reason ?? resolved?.reason;
  if (reason) fact.reason = reason;
  const agent = request?.agent_id ?? request?.labels?.['agent_id'];
  if (agent) fact.agent_id = agent;
  const identity = resolved?.resolved_by || request?.principal_id || submitter;
  if (identity) fact.identity = identity;
  if (request?.risk_tags?.length) fact.risk_tags = request.risk_tags;
  if (request?.capability) fact.capabilities = [request.capability];
  return fact;
}

let [cachedSecond, cachedText] = [-1, ''];

/** RFC 3339 in UTC with microseconds. */
export function toTimestamp(us: number): string {
  const second = Math.floor(us / 1_000_000);
  if (second !== cachedSecond) {
    cachedText = new Date(second * 1_000).toISOString().slice(0, 19);
    cachedSecond = second;
  }
  return `${cachedText}.${String(us - second * 1_000_000).padStart(6, '0')}Z`;
}
