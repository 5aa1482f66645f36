import { ChainVerifier, type ChainHead, type ChainReport } from '@svc/audit-chain';
import type { ReadWitnesses } from '@svc/audit';
import { AppError } from '@svc/contract';
import { evidenceLimits, isAbout, parseJson, type EvidenceVerification } from '@svc/evidence-format';
import { isRecord } from '@svc/json';
import type { AuditRepository, StoredAuditEvent } from '@svc/store';
import type { KeyObject } from 'node:crypto';
import type { Subject } from './subject';

export interface SearchDeps {
  store: { audit: Pick<AuditRepository, 'boundary' | 'head' | 'range' | 'rangeBack'> };
  hmacKey: KeyObject | undefined;
  witnesses: ReadWitnesses;
}

/** An event about the subject. */
export interface FoundEvent extends StoredAuditEvent {
  seq: number;
  fields: Readonly<Record<string, unknown>>;
}

export interface Found {
  events: FoundEvent[];
  verification: EvidenceVerification;
  firstSeq: number;
  lastSeq: number;
  searched: number;
}

const BATCH = 1_000;
/** Bounds the work of a request. */
const MAX_SEARCHED = 200_000;

/**
 * Searches a part of the chain for events about the subject, in their order, and verifies that part and the end of the chain on
 * the way. There is no index by subject: it would cost a write for each event, and bundles are rare.
 *
 * @throws evidence_too_large
 */
export async function searchChain(deps: SearchDeps, subject: Subject): Promise<Found> {
  const { audit } = deps.store;
  const { tenant } = subject;
  const fromMs = subject.fromMs ?? (await findFirst(deps, subject));
  const [from, to] = [fromMs === undefined ? '-' : String(fromMs), String(subject.toMs ?? '+')];
  const boundary = await audit.boundary(tenant);
  const before = await headBefore(audit, tenant, from, boundary);
  const witnesses = await deps.witnesses(tenant, before.seq + 1);
  const verifier = new ChainVerifier({ before, hmacKey: deps.hmacKey, witnesses });
  const isMatch = matcher(subject);
  const events: FoundEvent[] = [];
  let [position, searched] = [from, 0];
  for (;;) {
    const batch = await audit.range(tenant, position, to, BATCH);
    searched += batch.length;
    if (searched > MAX_SEARCHED) throw tooLarge(`there are more than ${MAX_SEARCHED} audit events in this time`);
    for (const stored of batch) {
      verifier.add(stored);
      const fields = isMatch(stored);
      if (fields) events.push({ ...stored, seq: Number(stored.id.split('-')[1]), fields });
    }
    if (events.length > evidenceLimits.events)
      throw tooLarge(`there are more than ${evidenceLimits.events} audit events about it in this time`);
    const last = batch.at(-1);
    if (!last || batch.length < BATCH) break;
    position = `(${last.id}`;
  }
  const report = verifier.finish(undefined, before.seq === boundary.seq ? boundary.seq : 0);
  const newest = witnesses.at(-1);
  const end = await checkEnd(audit, tenant, newest);
  const anchored = witnesses.filter(({ seq }) => seq <= report.lastSeq).at(-1);
  return {
    events,
    firstSeq: report.firstSeq,
    lastSeq: Math.max(report.lastSeq, ...events.map(({ seq }) => seq)),
    searched,
    verification: {
      ...summarize(report, end.gaps),
      head: end.head,
      anchors_checked: witnesses.length,
      anchored_seq: anchored?.seq ?? 0,
    },
  };
}

const tooLarge = (reason: string) => new AppError('evidence_too_large', { error: `${reason}: choose a shorter time` });

function summarize(
  { status, gaps, total, verified }: ChainReport,
  further: readonly { at_seq: number; type: string }[],
): Pick<EvidenceVerification, 'status' | 'gaps' | 'total_events' | 'verified_events'> {
  return {
    status: further.length > 0 ? 'compromised' : status,
    gaps: [...gaps, ...further],
    total_events: total,
    verified_events: verified,
  };
}

/** Parses only events whose text contains the id, because few do. */
function matcher({ kind, id }: Subject): (event: StoredAuditEvent) => FoundEvent['fields'] | undefined {
  const quoted = JSON.stringify(id);
  return ({ text }) => {
    if (!text.includes(quoted)) return undefined;
    const fields = parseJson(text);
    return isRecord(fields) && isAbout({ kind, id }, fields) ? fields : undefined;
  };
}

/** The event before the part that is searched. */
async function headBefore(
  audit: SearchDeps['store']['audit'],
  tenant: string,
  from: string,
  boundary: ChainHead,
): Promise<ChainHead> {
  if (from === '-') return boundary;
  // A time alone would include events of the same millisecond in both directions.
  const [first] = await audit.range(tenant, from, '+', 1);
  const [previous] = await audit.rangeBack(tenant, first ? `(${first.id}` : '+', '-', 1);
  return previous ? { seq: Number(previous.id.split('-')[1]), hash: previous.hash } : boundary;
}

/**
 * The time of the oldest event about a subject whose record is gone, by searching backwards.
 *
 * @returns ms; undefined when no event is about it, so that the whole chain was searched
 * @throws evidence_too_large
 */
async function findFirst({ store }: SearchDeps, subject: Subject): Promise<number | undefined> {
  const isMatch = matcher(subject);
  let position = String(subject.toMs ?? '+');
  let oldest: string | undefined;
  for (let searched = 0; ;) {
    const batch = await store.audit.rangeBack(subject.tenant, position, '-', BATCH);
    searched += batch.length;
    for (const stored of batch) if (isMatch(stored)) oldest = stored.id;
    const last = batch.at(-1);
    if (!last || batch.length < BATCH) break;
    if (searched >= MAX_SEARCHED)
      throw tooLarge(
        `its record is gone and it is not certain that the newest ${MAX_SEARCHED} audit events are all: give from and to`,
      );
    position = `(${last.id}`;
  }
  return oldest === undefined ? undefined : Number(oldest.split('-')[0]);
}

const TRIES = 3;

/** Compares the end of the chain with the stored head and the newest signed one, whatever part was searched. */
async function checkEnd(
  audit: SearchDeps['store']['audit'],
  tenant: string,
  newest: { seq: number; type: string } | undefined,
): Promise<{ head: ChainHead; gaps: { at_seq: number; type: string }[] }> {
  for (let tries = 1; ; tries++) {
    const head = await audit.head(tenant);
    const [last] = await audit.rangeBack(tenant, '+', '-', 1);
    const seq = last ? Number(last.id.split('-')[1]) : (await audit.boundary(tenant)).seq;
    const gaps = [];
    // An append between the two reads looks like a fault, and is none when both are read again.
    const isEqual = head?.seq === seq && (!last || head.hash === last.hash);
    if (!isEqual && tries < TRIES) continue;
    if (!isEqual)
      gaps.push({ at_seq: head ? Math.min(head.seq, seq) + (head.seq === seq ? 0 : 1) : seq, type: 'head' });
    if (newest && newest.seq > seq) gaps.push({ at_seq: seq + 1, type: newest.type });
    return { head: head ?? { seq: 0, hash: '' }, gaps };
  }
}
