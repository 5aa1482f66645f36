import { getKeyId, sha256 } from '@svc/audit-chain';
import { canonicalJson, isRecord } from '@svc/json';
import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { EVIDENCE_FORMAT, subjectKinds, type EvidenceManifest, type ManifestMember } from './format';

/** A member of the archive. */
export interface Member {
  path: string;
  body: Buffer;
}

export const describeMember = ({ path, body }: Member): ManifestMember => ({
  path,
  bytes: body.length,
  sha256: sha256(body),
});

/** The text of the manifest. @param keys public keys of the installation, that of `key` among them */
export function signManifest(
  manifest: Omit<EvidenceManifest, 'format' | 'public_keys' | 'key_id' | 'signature'>,
  key: KeyObject,
  keys: readonly KeyObject[],
): Buffer {
  const signed: Omit<EvidenceManifest, 'signature'> = {
    ...manifest,
    format: EVIDENCE_FORMAT,
    public_keys: Object.fromEntries(
      keys.map((one) => [getKeyId(one), one.export({ type: 'spki', format: 'der' }).toString('base64')]),
    ),
    key_id: getKeyId(key),
  };
  const signature = sign(null, Buffer.from(canonicalJson(signed)), key).toString('base64url');
  return Buffer.from(`${canonicalJson({ ...signed, signature })}\n`);
}

/** Whether the key signed the manifest. @param key Ed25519, public */
export function isManifestSigned({ signature, ...signed }: EvidenceManifest, key: KeyObject): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  // Base64 has unused bits, which a changed character may differ in.
  if (getKeyId(key) !== signed.key_id || bytes.toString('base64url') !== signature) return false;
  return verify(null, Buffer.from(canonicalJson(signed)), key, bytes);
}

/** The public keys that a manifest names; those that are no Ed25519 keys, or have another id, are left out. */
export function readPublicKeys({ public_keys }: EvidenceManifest): KeyObject[] {
  return Object.entries(public_keys).flatMap(([id, text]) => {
    const key = readPublicKey(Buffer.from(text, 'base64'));
    return key && getKeyId(key) === id ? [key] : [];
  });
}

/** @param der SPKI. @returns undefined when it is no Ed25519 key */
export function readPublicKey(der: Buffer): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a manifest. @returns why it is none, or the manifest */
export function readManifest(body: Buffer): { fault: string } | { manifest: EvidenceManifest } {
  const text = body.toString('utf8');
  const value = parse(text);
  if (!isRecord(value)) return { fault: 'it is not a JSON object' };
  if (value['format'] !== EVIDENCE_FORMAT) return { fault: `its format is not ${EVIDENCE_FORMAT}` };
  if (!isManifest(value)) return { fault: 'a field is missing or has another type' };
  // The signature covers values, not bytes: this excludes a second text with the same values.
  if (Buffer.compare(body, Buffer.from(`${canonicalJson(value)}\n`)) !== 0)
    return { fault: 'it is not canonical JSON' };
  return { manifest: value };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isManifest(value: object): value is EvidenceManifest {
  const { installation, tenant_id, subject, created_at, requested_by, window, events, includes_content, members } =
    value as Record<string, unknown>;
  const { public_keys, key_id, signature } = value as Record<string, unknown>;
  const areTexts = (...values: unknown[]) => values.every((one) => typeof one === 'string');
  const areCounts = (...values: unknown[]) => values.every((one) => Number.isSafeInteger(one) && Number(one) >= 0);
  return (
    areTexts(installation, tenant_id, created_at, key_id, signature) &&
    typeof includes_content === 'boolean' &&
    areCounts(events) &&
    isRecord(subject) &&
    areTexts(subject['id']) &&
    (subjectKinds as readonly unknown[]).includes(subject['kind']) &&
    isRecord(requested_by) &&
    areTexts(requested_by['identity'], requested_by['role'], requested_by['request_id']) &&
    isRecord(window) &&
    areTexts(window['from'], window['to']) &&
    areCounts(window['first_seq'], window['last_seq'], window['searched']) &&
    isRecord(public_keys) &&
    areTexts(...Object.values(public_keys)) &&
    Array.isArray(members) &&
    members.every(
      (member: unknown) => isRecord(member) && areTexts(member['path'], member['sha256']) && areCounts(member['bytes']),
    )
  );
}
