import { sha256, type SignedCheckpoint } from '@svc/audit-chain';
import { getKeyId } from '@svc/audit-chain';
import type { KeyObject } from 'node:crypto';
import { contentPrefix, memberNames, type EvidenceManifest } from '../format';
import { isManifestSigned, readManifest, readPublicKeys, type Member } from '../manifest';
import {
  checkAnchors,
  checkCheckpoints,
  checkHashes,
  checkProofs,
  checkSubject,
  readEvents,
  type ReadEvent,
} from './check-events';
import { Findings, type EvidenceCheck, type EvidenceFault } from './findings';
import { readData, readVerification } from './read-members';

export interface VerifyEvidenceOptions {
  /** Public keys (Ed25519) that the reader trusts; with none, the key that the bundle itself names is used, with a warning. */
  keys?: readonly KeyObject[];
  /** Heads that were kept outside of the installation, such as the lines of an anchor file. */
  anchors?: readonly SignedCheckpoint[];
}

export interface EvidenceReport {
  isVerified: boolean;
  /** Those of the archive and its members first, then by event. */
  faults: EvidenceFault[];
  warnings: string[];
  checks: EvidenceCheck[];
  /** Undefined when it cannot be read. */
  manifest: EvidenceManifest | undefined;
  events: ReadEvent[];
  /** Whether the key that signed the manifest was given by the reader. */
  isKeyGiven: boolean;
}

const none = Buffer.alloc(0);

/**
 * Verifies the members of a bundle, in the order of the archive. Later checks run even if earlier ones failed, so that the report
 * names every place that was changed.
 *
 * @param findings contains what the reader of the archive found
 */
export function verifyEvidence(
  members: readonly Member[],
  { keys = [], anchors }: VerifyEvidenceOptions = {},
  findings: Findings = new Findings(),
): EvidenceReport {
  const bodies = new Map(members.map(({ path, body }) => [path, body]));
  const [first] = members;
  const manifest = checkManifest(first, findings);
  const report = (events: ReadEvent[]): EvidenceReport => ({
    isVerified: findings.faults.length === 0,
    faults: byEvent(findings.faults),
    warnings: findings.warnings,
    checks: findings.checks,
    manifest,
    events,
    isKeyGiven: keys.length > 0,
  });
  if (!manifest) return report([]);
  const trusted = checkSignature(manifest, keys, findings);
  findings.check('members', () => checkMembers(members.slice(1), manifest, findings));
  const body = (name: keyof typeof memberNames) => bodies.get(memberNames[name]) ?? none;

  let events: ReadEvent[] = [];
  findings.check('events', () => {
    events = readEvents(body('events'), findings);
    checkHashes(events, manifest, findings);
    return `${events.length} events`;
  });
  let checkpoints: ReturnType<typeof checkCheckpoints>;
  findings.check('checkpoints', () => {
    checkpoints = checkCheckpoints(body('checkpoints'), manifest, trusted, findings);
    return checkpoints && `of ${checkpoints.covering.at} and ${checkpoints.newest.at}`;
  });
  const both = checkpoints;
  if (both) {
    findings.check('proofs', () => {
      checkProofs(events, both, findings);
      return `to the checkpoint at event ${both.covering.seq}, and from there to event ${both.newest.seq}`;
    });
  } else findings.skip('proofs', 'the checkpoints cannot be read');
  if (both && anchors) {
    findings.check('anchors', () => {
      const count = checkAnchors(anchors, events, both, trusted, findings);
      if (count === 0) findings.warn('none of the anchors is of this chain and signed by a trusted key');
      return `${count} anchors of this chain`;
    });
  } else findings.skip('anchors', anchors ? 'the checkpoints cannot be read' : 'none were given');
  findings.check('subject', () => {
    checkSubject(events, manifest, findings);
    return undefined;
  });
  findings.check('installation', () => checkInstallation(body('verification'), findings));
  if (manifest.includes_content) findings.check('content', () => checkContent(body('data'), bodies, findings));
  else findings.skip('content', 'the bundle contains hashes only');
  return report(events);
}

/** Faults of the archive and its members first, then those of events by their numbers: a changed event breaks later ones, too. */
const byEvent = (faults: readonly EvidenceFault[]): EvidenceFault[] =>
  [...faults].sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));

function checkManifest(first: Member | undefined, findings: Findings): EvidenceManifest | undefined {
  let manifest: EvidenceManifest | undefined;
  findings.check('manifest', () => {
    if (first?.path !== memberNames.manifest) {
      findings.fault(memberNames.manifest, 'it is not the first member of the archive');
      return undefined;
    }
    const read = readManifest(first.body);
    if ('fault' in read) findings.fault(memberNames.manifest, read.fault);
    else ({ manifest } = read);
    return undefined;
  });
  return manifest;
}

/** @returns the keys with which checkpoints are verified */
function checkSignature(manifest: EvidenceManifest, given: readonly KeyObject[], findings: Findings): KeyObject[] {
  const named = readPublicKeys(manifest);
  const isSignedBy = (keys: readonly KeyObject[]) => keys.some((key) => isManifestSigned(manifest, key));
  const isPassed = findings.check('signature', () => {
    const ids = given.map(getKeyId);
    if (given.length > 0 && !ids.includes(manifest.key_id)) {
      findings.fault(
        memberNames.manifest,
        `it is signed with key ${manifest.key_id}, which is not the key given (${ids.join(', ')})`,
      );
    } else if (!isSignedBy(given.length > 0 ? given : named)) {
      findings.fault(memberNames.manifest, 'its signature is not valid');
    }
    return `Ed25519 key ${manifest.key_id}`;
  });
  if (given.length === 0) {
    findings.warn(
      `no key was given: the bundle was verified with key ${manifest.key_id}, which it names itself. Anybody can write a bundle with a key of their own: compare the key with one from a source that you trust, or use --key`,
    );
  }
  // A manifest that a trusted key signed vouches for the earlier keys that it names.
  return given.length > 0 && !isPassed ? [...given] : [...given, ...named];
}

function checkMembers(members: readonly Member[], manifest: EvidenceManifest, findings: Findings): string {
  const listed = new Map(manifest.members.map((member) => [member.path, member]));
  const paths = members.map(({ path }) => path);
  const present = new Set(paths);
  for (const path of listed.keys()) if (!present.has(path)) findings.fault(path, 'the member is missing');
  const seen = new Set<string>();
  for (const { path, body } of members) {
    const entry = listed.get(path);
    if (!entry) findings.fault(path, 'the manifest does not list this member');
    else if (seen.has(path)) findings.fault(path, 'the member is in the archive twice');
    else if (sha256(body) !== entry.sha256 || body.length !== entry.bytes)
      findings.fault(path, 'the member was changed: its SHA-256 is not the one in the manifest');
    seen.add(path);
  }
  const moved = manifest.members.find(({ path }, i) => path !== paths[i]);
  if (moved && present.size === listed.size && paths.length === present.size)
    findings.fault(moved.path, 'the member is not at the place where the manifest lists it');
  for (const name of ['events', 'checkpoints', 'verification'] as const) {
    if (!listed.has(memberNames[name])) findings.fault(memberNames[name], 'the manifest does not list this member');
  }
  return `${members.length} members`;
}

/** The bundle contains what the service found in its chain, so that a fault beyond the events of the subject is seen, too. */
function checkInstallation(body: Buffer, findings: Findings): string | undefined {
  const verification = readVerification(body);
  if (!verification) {
    findings.fault(memberNames.verification, 'it is not a verification');
    return undefined;
  }
  for (const { at_seq, type } of verification.gaps) {
    if (type === 'retention_trimmed') continue;
    findings.fault(memberNames.verification, `the installation found a fault at event ${at_seq}: ${type}`, at_seq);
  }
  if (verification.status === 'compromised' && verification.gaps.length === 0)
    findings.fault(memberNames.verification, 'the installation found its chain compromised');
  if (verification.status === 'partial')
    findings.warn(
      'the installation could verify its chain only in part: retention removed events, or it has no HMAC key',
    );
  return verification.status;
}

function checkContent(data: Buffer, bodies: ReadonlyMap<string, Buffer>, findings: Findings): string {
  const entries = readData(data);
  if (!entries) {
    findings.fault(memberNames.data, 'it is not a list of documents');
    return '';
  }
  const named = new Set<string>();
  for (const { content, sha256: expected } of entries) {
    if (content === undefined) continue;
    named.add(content);
    const body = bodies.get(content);
    if (!body) findings.fault(content, `${memberNames.data} names this member, and it is missing`);
    else if (expected === undefined || sha256(body) !== expected)
      findings.fault(content, `its SHA-256 is not the one in ${memberNames.data}`);
  }
  for (const path of bodies.keys()) {
    if (path.startsWith(contentPrefix) && !named.has(path))
      findings.fault(path, `${memberNames.data} does not name this member`);
  }
  return `${named.size} documents`;
}
