import { ChainVerifier, type ChainHead, type ChainReport, type Witness } from '@svc/audit-chain';
import { AppError, type AuditVerification, type AuditVerifyQuery, type Caller } from '@svc/contract';
import type { AuditRepository, StoredAuditEvent } from '@svc/store';
import type { KeyObject } from 'node:crypto';
import { chainTenant, readTime } from './chain-scope';
import type { Sealer } from './sealer';

/** Reads the heads that were published of a chain, in ascending order of their numbers. */
export type ReadWitnesses = (tenant: string, fromSeq: number) => Promise<Witness[]>;

export interface VerifyDeps {
  store: { audit: Pick<AuditRepository, 'boundary' | 'head' | 'range' | 'rangeBack'> };
  sealer: Pick<Sealer, 'seal'>;
  hmacKey: KeyObject | undefined;
  witnesses: ReadWitnesses;
  /** undefined = for ever */
  retentionHours(): number | undefined;
}

const BATCH = 2_000;
const DEFAULT_LIMIT = 10_000;
const MAX_LIMIT = 100_000;
const MAX_SPAN_MS = 30 * 86_400_000;

interface Range {
  /** Stream ids. */
  from: string;
  to: string;
  limit: number;
}

/**
 * Verifies the chain of a tenant, or a part of it. Equal requests at the same time share one run.
 *
 * @throws audit_limit_invalid, audit_from_invalid, audit_to_invalid, audit_range_invalid, tenant_access_denied
 */
export function verifier(deps: VerifyDeps) {
  const running = new Map<string, Promise<AuditVerification>>();
  return (caller: Caller, query: AuditVerifyQuery): Promise<AuditVerification> => {
    const tenant = chainTenant(caller, query.tenant);
    const range = readRange(query);
    const name = JSON.stringify([tenant, range]);
    const run = running.get(name) ?? verifyRange(deps, tenant, range).finally(() => running.delete(name));
    running.set(name, run);
    return run;
  };
}

/** Verifies the newest 10,000 events of a tenant. */
export const verifyNewest = (deps: VerifyDeps, tenant: string): Promise<AuditVerification> =>
  verifyRange(deps, tenant, { from: '-', to: '+', limit: DEFAULT_LIMIT });

/** Verifies the whole chain of a tenant. */
export const verifyWhole = (deps: VerifyDeps, tenant: string): Promise<AuditVerification> =>
  verifyRange(deps, tenant, { from: '-', to: '+', limit: Number.POSITIVE_INFINITY });

function readRange({ since = '', until = '', limit = '' }: AuditVerifyQuery): Range {
  if (limit !== '' && !/^[1-9]\d{0,8}$/.test(limit)) throw new AppError('audit_limit_invalid');
  const [from, to] = [readBound(since, 'audit_from_invalid'), readBound(until, 'audit_to_invalid')];
  if (from !== undefined && to !== undefined && (from > to || to - from > MAX_SPAN_MS)) {
    throw new AppError('audit_range_invalid', { error: 'since must be before until, by at most 30 days' });
  }
  return {
    from: from === undefined ? '-' : String(from),
    to: to === undefined ? '+' : String(to),
    limit: limit === '' ? DEFAULT_LIMIT : Math.min(MAX_LIMIT, Number(limit)),
  };
}

function readBound(text: string, code: 'audit_from_invalid' | 'audit_to_invalid'): number | undefined {
  if (text === '') return undefined;
  const ms = readTime(text);
  if (ms === undefined) throw new AppError(code);
  return ms;
}

/** Verifies the events between two times (ms), and passes each to `read`, in the order of the chain. */
export const verifyPart = (
  deps: VerifyDeps,
  tenant: string,
  { fromMs, toMs }: { fromMs: number; toMs: number },
  read: (event: StoredAuditEvent) => void,
): Promise<AuditVerification> =>
  verifyRange(deps, tenant, { from: String(fromMs), to: String(toMs), limit: Number.POSITIVE_INFINITY }, read);

async function verifyRange(
  deps: VerifyDeps,
  tenant: string,
  range: Range,
  read?: (event: StoredAuditEvent) => void,
): Promise<AuditVerification> {
  await deps.sealer.seal();
  const { audit } = deps.store;
  const boundary = await audit.boundary(tenant);
  const first = await firstEvent(audit, tenant, range);
  const startsAtBegin = first ? first.isFirst : range.from === '-';
  const before: ChainHead | undefined = startsAtBegin ? boundary : first?.before;
  const witnesses = await deps.witnesses(tenant, (before?.seq ?? 0) + 1);
  const run = new ChainVerifier({ before, hmacKey: deps.hmacKey, witnesses });
  // Without a begin the range is that of the newest events, which end at the head.
  const limit = range.from === '-' ? Number.POSITIVE_INFINITY : range.limit;
  const isEmpty = !first && range.from !== '-';
  const from = first?.id ?? range.from;
  const head = isEmpty ? undefined : await feed(audit, tenant, { ...range, limit, from }, withReader(run, read));
  const report = run.finish(head, boundary.seq);
  return toVerification(tenant, report, {
    boundarySeq: boundary.seq,
    witnesses,
    retentionHours: deps.retentionHours(),
  });
}

/** What `feed` fills. */
type EventSink = Pick<ChainVerifier, 'add' | 'lastSeq'>;

const withReader = (run: ChainVerifier, read?: (event: StoredAuditEvent) => void): EventSink =>
  read === undefined
    ? run
    : {
        add: (event: StoredAuditEvent) => {
          run.add(event);
          read(event);
        },
        get lastSeq() {
          return run.lastSeq;
        },
      };

/** A head that is no head differs from every event. */
const unreadableHead: ChainHead = { seq: Number.MAX_SAFE_INTEGER, hash: '' };

/** Where the range begins: the newest `limit` events when it has no begin. */
async function firstEvent(audit: VerifyDeps['store']['audit'], tenant: string, { from, to, limit }: Range) {
  if (from === '-' && !Number.isFinite(limit)) return undefined;
  const start = from === '-' ? await newestStart(audit, tenant, to, limit) : from;
  if (start === undefined) return undefined;
  const [first] = await audit.range(tenant, start, '+', 1);
  if (!first) return undefined;
  const [previous] = await audit.rangeBack(tenant, `(${first.id}`, '-', 1);
  const seq = Number(previous?.id.split('-')[1]);
  return { id: first.id, isFirst: previous === undefined, before: previous && { seq, hash: previous.hash } };
}

/** The id of the `limit`-th newest event; undefined when there are fewer. */
async function newestStart(
  audit: VerifyDeps['store']['audit'],
  tenant: string,
  to: string,
  limit: number,
): Promise<string | undefined> {
  let [position, left] = [to, limit];
  for (;;) {
    const batch = await audit.rangeBack(tenant, position, '-', Math.min(BATCH, left));
    const last = batch.at(-1);
    left -= batch.length;
    if (!last || left <= 0) return last?.id;
    if (batch.length < BATCH) return undefined;
    position = `(${last.id}`;
  }
}

/**
 * Reads the events into the verifier. The next batch is read while one is verified.
 *
 * @returns the head, if the range goes to the end of the chain. It is read after the events: in an unchanged chain it is not
 *   behind them.
 */
async function feed(
  audit: VerifyDeps['store']['audit'],
  tenant: string,
  { from, to, limit }: Range,
  run: EventSink,
): Promise<ChainHead | undefined> {
  let [position, left] = [from, limit];
  const next = () => audit.range(tenant, position, to, Math.min(BATCH, left));
  for (let ahead = next(); ;) {
    const batch: StoredAuditEvent[] = await ahead;
    const last = batch.at(-1);
    left -= batch.length;
    if (last) position = `(${last.id}`;
    if (left <= 0) {
      for (const event of batch) run.add(event);
      return undefined;
    }
    if (last) {
      ahead = next();
      for (const event of batch) run.add(event);
      continue;
    }
    if (to !== '+') return undefined;
    const head = (await audit.head(tenant)) ?? unreadableHead;
    if (head.seq <= run.lastSeq) return head;
    const [more] = await audit.range(tenant, position, to, 1);
    if (!more) return head;
    ahead = next();
  }
}

function toVerification(
  tenant: string,
  report: ChainReport,
  {
    boundarySeq,
    witnesses,
    retentionHours,
  }: { boundarySeq: number; witnesses: readonly Witness[]; retentionHours: number | undefined },
): AuditVerification {
  const compared = witnesses.filter(({ seq }) => seq <= report.lastSeq);
  return {
    tenant_id: tenant,
    status: report.status,
    total_events: report.total,
    verified_events: report.verified,
    gaps: report.gaps,
    retention_boundary_seq: boundarySeq,
    ...(retentionHours !== undefined && { retention_window_hours: retentionHours }),
    first_seq: report.firstSeq,
    last_seq: report.lastSeq,
    hmac_verified: report.hmacVerified,
    hmac_skipped: report.hmacSkipped,
    hmac_seen: report.hmacSeen,
    anchored_seq: compared.at(-1)?.seq ?? 0,
    anchors_checked: witnesses.length,
  };
}
