import type { SignedCheckpoint } from '@svc/audit-chain';

/*
 * The evidence bundle: a gzipped tar archive about one job, run, agent or session. The service writes it, and `svc-verify` reads
 * it without the service. See docs/reference/audit.md#evidence.
 */

export const EVIDENCE_FORMAT = 'svc-evidence/1';

export const subjectKinds = ['job', 'run', 'agent', 'session'] as const;
export type SubjectKind = (typeof subjectKinds)[number];

/** Limits of a bundle. The service refuses to write a larger one, and the verifier to read one. */
export const evidenceLimits = {
  events: 10_000,
  jobs: 1_000,
  members: 4_096,
  /** Of all members together, uncompressed. */
  bytes: 32 * 1_048_576,
} as const;

/** Members in the order of the archive. Documents with `content/` in their names follow them. */
export const memberNames = {
  manifest: 'manifest.json',
  readme: 'README.txt',
  events: 'chain/events.ndjson',
  checkpoints: 'chain/checkpoints.json',
  verification: 'chain/verification.json',
  record: 'record.json',
  decisions: 'decisions.json',
  approvals: 'approvals.json',
  data: 'data.json',
  policies: 'policies.json',
  workflow: 'workflow.json',
} as const;

export type MemberName = keyof typeof memberNames;

/** Content of documents, if the bundle includes it: `content/<number>`. */
export const contentPrefix = 'content/';

export interface ManifestMember {
  path: string;
  bytes: number;
  /** Hex. */
  sha256: string;
}

/** States what the bundle contains, and signs it. Its text is canonical JSON (RFC 8785) and a line feed. */
export interface EvidenceManifest {
  format: typeof EVIDENCE_FORMAT;
  /** Id of the installation. */
  installation: string;
  tenant_id: string;
  subject: { kind: SubjectKind; id: string };
  /** RFC 3339. */
  created_at: string;
  requested_by: { identity: string; role: string; request_id: string };
  /** Part of the chain that was searched for events of the subject. Sequence numbers are 0 if it is empty. */
  window: { from: string; to: string; first_seq: number; last_seq: number; searched: number };
  /** Number of events in the bundle. */
  events: number;
  includes_content: boolean;
  /** All other members, in the order of the archive. */
  members: ManifestMember[];
  /** Public keys (SPKI, DER, base64) of the installation by key id: the current one, and earlier ones of checkpoints. */
  public_keys: Record<string, string>;
  key_id: string;
  /** Ed25519, base64url, of the canonical JSON of all other fields. */
  signature: string;
}

/** A line of `chain/events.ndjson`. */
export interface EvidenceEvent {
  seq: number;
  /** SHA-256 (hex) of `text`. */
  hash: string;
  hmac?: string;
  /** Canonical JSON of the event; absent when it is withheld, so that only its place in the chain is proved. */
  text?: string;
  /** Audit path (hex, from the leaf upwards) to the covering checkpoint; absent when the service could not compute it. */
  path?: string[];
}

/** `chain/checkpoints.json` */
export interface EvidenceCheckpoints {
  /** The earliest known checkpoint that covers every event of the bundle; the audit paths lead to it. */
  covering: SignedCheckpoint;
  /** The newest checkpoint when the bundle was written. */
  newest: SignedCheckpoint;
  /** Consistency proof (hex) from the covering to the newest one; empty when they are the same. */
  consistency: string[];
}

/** `chain/verification.json`: what the service found when it verified the searched part of its chain and the end of it. */
export interface EvidenceVerification {
  status: 'ok' | 'partial' | 'compromised';
  gaps: { at_seq: number; type: string }[];
  total_events: number;
  verified_events: number;
  head: { seq: number; hash: string };
  /** Number of checkpoints and anchors that were compared, and the newest event that they cover. */
  anchors_checked: number;
  anchored_seq: number;
}

/** An entry of `data.json`: an input, output or artifact of a job, or a policy document, by its hash. */
export interface EvidenceData {
  job_id: string;
  role: 'input' | 'output' | 'redacted_output' | 'artifact' | 'policy';
  pointer: string;
  /** Hex; absent when the document is gone, too large to hash, or outside of the store. */
  sha256?: string;
  bytes?: number;
  /** Why there is no hash or no content. */
  note?: string;
  /** The output is withheld by output policy. */
  withheld?: boolean;
  /** Member with the content. */
  content?: string;
}
