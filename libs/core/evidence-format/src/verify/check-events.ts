import { isConsistent, isIncluded, isSigned, leafHash, sha256, type SignedCheckpoint } from '@svc/audit-chain';
import { isRecord } from '@svc/json';
import type { KeyObject } from 'node:crypto';
import {
  memberNames,
  type EvidenceCheckpoints,
  type EvidenceEvent,
  type EvidenceManifest,
  type SubjectKind,
} from '../format';
import type { Findings } from './findings';
import { parseJson, readCheckpoints, readEvent } from './read-members';

const EVENTS = memberNames.events;
const CHECKPOINTS = memberNames.checkpoints;

/** An event with the line that it is on, from 1. */
export interface ReadEvent extends EvidenceEvent {
  line: number;
  /** The parsed text; undefined when it is withheld or no object. */
  fields: Readonly<Record<string, unknown>> | undefined;
}

export function readEvents(body: Buffer, findings: Findings): ReadEvent[] {
  const lines = body.toString('utf8').split('\n');
  if (lines.pop() !== '') findings.fault(EVENTS, 'the last line has no end');
  return lines.flatMap((text, i) => {
    const event = readEvent(text);
    if (!event) {
      findings.fault(`${EVENTS}, line ${i + 1}`, 'this is not an event with its proof');
      return [];
    }
    const fields = event.text === undefined ? undefined : parseJson(event.text);
    return [{ ...event, line: i + 1, fields: isRecord(fields) ? fields : undefined }];
  });
}

/** Hashes, order, and links between events that follow each other. */
export function checkHashes(events: readonly ReadEvent[], manifest: EvidenceManifest, findings: Findings): void {
  const { window } = manifest;
  let last: ReadEvent | undefined;
  for (const event of events) {
    const { seq, text, hash, fields } = event;
    const fault = (reason: string) => findings.fault(`${EVENTS}, line ${event.line}`, reason, seq);
    if (last && seq <= last.seq) fault(`event ${seq} is after event ${last.seq}`);
    if (seq < window.first_seq || seq > window.last_seq) fault(`event ${seq} is outside of the part that was searched`);
    if (text !== undefined && sha256(text) !== hash) fault(`event ${seq} was changed: its SHA-256 is another`);
    if (text !== undefined && fields?.['seq'] !== seq) fault(`event ${seq} has another number in its text`);
    if (fields && fields['tenant_id'] !== manifest.tenant_id) fault(`event ${seq} is of another tenant`);
    const isLinked = !fields || last?.seq !== seq - 1 || fields['prev_hash'] === last.hash;
    if (!isLinked) fault(`event ${seq} does not follow event ${seq - 1}: the link is broken`);
    last = event;
  }
  if (events.length !== manifest.events) {
    findings.fault(EVENTS, `there are ${events.length} events, and the manifest states ${manifest.events}`);
  }
}

/** Signatures, tenant and installation of both checkpoints. */
export function checkCheckpoints(
  body: Buffer,
  manifest: EvidenceManifest,
  keys: readonly KeyObject[],
  findings: Findings,
): EvidenceCheckpoints | undefined {
  const checkpoints = readCheckpoints(body);
  if (!checkpoints) {
    findings.fault(CHECKPOINTS, 'it does not contain two checkpoints and a proof');
    return undefined;
  }
  for (const name of ['covering', 'newest'] as const) {
    const checkpoint = checkpoints[name];
    const fault = (reason: string) => findings.fault(`${CHECKPOINTS}, ${name} checkpoint`, reason);
    if (checkpoint.tenant_id !== manifest.tenant_id) fault('it is of another tenant');
    if (checkpoint.installation !== manifest.installation) fault('it is of another installation');
    if (!isSigned(checkpoint, keys)) fault(`its signature by key ${checkpoint.key_id} is not valid`);
  }
  return checkpoints;
}

const toBytes = (hashes: readonly string[]) => hashes.map((hex) => Buffer.from(hex, 'hex'));
const toRoot = ({ seq, merkle_root }: SignedCheckpoint) => ({ size: seq, root: Buffer.from(merkle_root, 'hex') });

/** That every event is in the tree of the covering checkpoint, and that the newest one only added events. */
export function checkProofs(
  events: readonly ReadEvent[],
  { covering, newest, consistency }: EvidenceCheckpoints,
  findings: Findings,
): void {
  const { size, root } = toRoot(covering);
  for (const { seq, hash, path, line } of events) {
    const place = `${EVENTS}, line ${line}`;
    if (!path) {
      findings.fault(place, `event ${seq} has no proof: the installation could not compute it`, seq);
      continue;
    }
    const proof = { index: seq - 1, size, path: toBytes(path), root };
    if (!isIncluded(leafHash(hash), proof)) {
      findings.fault(place, `event ${seq} is not in the chain that the checkpoint of ${covering.at} signed`, seq);
    }
    if (seq === covering.seq && hash !== covering.event_hash) {
      findings.fault(place, `event ${seq} is not the newest one that the checkpoint of ${covering.at} signed`, seq);
    }
  }
  if (!isConsistent(toRoot(covering), toRoot(newest), toBytes(consistency))) {
    const reason = `the chain at event ${newest.seq} is not a continuation of the chain at event ${covering.seq}`;
    findings.fault(`${CHECKPOINTS}, consistency proof`, reason, covering.seq);
  }
}

/** Compares heads of the chain that were kept outside of the installation. @returns number of anchors of this chain */
export function checkAnchors(
  anchors: readonly SignedCheckpoint[],
  events: readonly ReadEvent[],
  { covering, newest }: EvidenceCheckpoints,
  keys: readonly KeyObject[],
  findings: Findings,
): number {
  const hashes = new Map(events.map(({ seq, hash }) => [seq, hash]));
  const own = anchors.filter(
    (one) => one.tenant_id === newest.tenant_id && one.installation === newest.installation && isSigned(one, keys),
  );
  for (const anchor of own) {
    const { seq, at } = anchor;
    const known = [covering, newest].find((one) => one.seq === seq);
    const isOther =
      (known && (known.merkle_root !== anchor.merkle_root || known.event_hash !== anchor.event_hash)) ||
      (hashes.has(seq) && hashes.get(seq) !== anchor.event_hash);
    if (isOther) findings.fault(`anchor of ${at}`, `event ${seq} is another than the one that was anchored`, seq);
    if (seq > newest.seq && at <= newest.at) {
      const reason = `event ${seq} was anchored before the bundle was written, and its chain ends at event ${newest.seq}: its end was removed`;
      findings.fault(`anchor of ${at}`, reason, newest.seq + 1);
    }
  }
  return own.length;
}

/** Whether an event is about a subject. Job events name their run. */
export function isAbout(
  { kind, id }: { kind: SubjectKind; id: string },
  event: Readonly<Record<string, unknown>>,
): boolean {
  const extra = isRecord(event['extra']) ? event['extra'] : {};
  switch (kind) {
    case 'job':
      return event['job_id'] === id || (extra['resource_type'] === 'job' && extra['resource_id'] === id);
    case 'run':
      return extra['run_id'] === id || (extra['resource_type'] === 'run' && extra['resource_id'] === id);
    case 'agent':
      return event['agent_id'] === id || (extra['resource_type'] === 'agent' && extra['resource_id'] === id);
    case 'session':
      return extra['session_id'] === id || (extra['resource_type'] === 'session' && extra['resource_id'] === id);
  }
}

/** That no event is about something else, and that the states of each job follow each other. */
export function checkSubject(events: readonly ReadEvent[], { subject }: EvidenceManifest, findings: Findings): void {
  const states = new Map<string, { state: unknown; seq: number }>();
  for (const { fields, seq, line } of events) {
    if (!fields) continue;
    if (!isAbout(subject, fields)) {
      findings.fault(`${EVENTS}, line ${line}`, `event ${seq} is not about the ${subject.kind}`, seq);
    }
    const extra = isRecord(fields['extra']) ? fields['extra'] : {};
    const job = fields['job_id'];
    if (typeof job !== 'string' || typeof extra['to'] !== 'string') continue;
    const before = states.get(job);
    if (before && extra['from'] !== undefined && extra['from'] !== before.state) {
      findings.warn(
        `a change of state of a job is not among the events: between event ${before.seq} and event ${seq} (events of a job are missing, or the bundle covers a part of its time)`,
      );
    }
    states.set(job, { state: extra['to'], seq });
  }
}
