import type { SignedCheckpoint } from '@svc/audit-chain';
import { isRecord } from '@svc/json';
import type { EvidenceCheckpoints, EvidenceData, EvidenceEvent, EvidenceVerification } from '../format';

/*
 * Readers of members. What a bundle contains is untrusted until its signature is verified, and a signer may still have written
 * any shape, so each field that a check uses is examined.
 */

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isHash = (value: unknown): value is string => isText(value) && /^[0-9a-f]{64}$/.test(value);
const areHashes = (value: unknown): value is string[] => Array.isArray(value) && value.every(isHash);

export function readEvent(line: string): EvidenceEvent | undefined {
  const value = parseJson(line);
  if (!isRecord(value)) return undefined;
  const { seq, hash, hmac, text, path } = value;
  const isEvent =
    isCount(seq) &&
    seq > 0 &&
    isHash(hash) &&
    (hmac === undefined || isText(hmac)) &&
    (text === undefined || isText(text)) &&
    (path === undefined || areHashes(path));
  return isEvent ? (value as unknown as EvidenceEvent) : undefined;
}

export function readCheckpoint(value: unknown): SignedCheckpoint | undefined {
  if (!isRecord(value)) return undefined;
  const texts = ['installation', 'tenant_id', 'at', 'key_id', 'signature'].every((field) => isText(value[field]));
  const isCheckpoint =
    texts && isHash(value['event_hash']) && isHash(value['merkle_root']) && isCount(value['seq']) && value['seq'] > 0;
  return isCheckpoint ? (value as unknown as SignedCheckpoint) : undefined;
}

export function readCheckpoints(body: Buffer): EvidenceCheckpoints | undefined {
  const value = parseJson(body.toString('utf8'));
  if (!isRecord(value)) return undefined;
  const [covering, newest] = [readCheckpoint(value['covering']), readCheckpoint(value['newest'])];
  const { consistency } = value;
  return covering && newest && areHashes(consistency) ? { covering, newest, consistency } : undefined;
}

export function readVerification(body: Buffer): EvidenceVerification | undefined {
  const value = parseJson(body.toString('utf8'));
  if (!isRecord(value) || !isText(value['status']) || !Array.isArray(value['gaps'])) return undefined;
  const areGaps = value['gaps'].every((gap: unknown) => isRecord(gap) && isCount(gap['at_seq']) && isText(gap['type']));
  return areGaps ? (value as unknown as EvidenceVerification) : undefined;
}

export function readData(body: Buffer): EvidenceData[] | undefined {
  const value = parseJson(body.toString('utf8'));
  if (!Array.isArray(value)) return undefined;
  const areEntries = value.every(
    (entry: unknown) =>
      isRecord(entry) &&
      isText(entry['job_id']) &&
      isText(entry['role']) &&
      ['content', 'sha256', 'note'].every((field) => entry[field] === undefined || isText(entry[field])),
  );
  return areEntries ? (value as EvidenceData[]) : undefined;
}
