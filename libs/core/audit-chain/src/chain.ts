import type { AuditEvent, AuditFact } from '@svc/contract';
import { createHmac, hash, type KeyObject } from 'node:crypto';
import { canonicalText } from './canonical-text';

/** The newest event of a chain; `seq` 0 and hash '' before the first. */
export interface ChainHead {
  seq: number;
  hash: string;
}

export const emptyHead: ChainHead = { seq: 0, hash: '' };

/** An event as it is stored: the bytes that were hashed, and what was computed from them. */
export interface SealedEvent {
  seq: number;
  text: string;
  hash: string;
  /** '' without a key. */
  hmac: string;
}

/** Lower-case hex SHA-256. */
export const sha256 = (data: string | Buffer): string => hash('sha256', data, 'hex');

/** Links facts to the chain after its head, in their order. */
export function sealFacts(facts: readonly AuditFact[], head: ChainHead, hmacKey?: KeyObject): SealedEvent[] {
  let { seq, hash: previous } = head;
  return facts.map((fact) => {
    seq += 1;
    const text = canonicalText(fact, seq, previous);
    previous = sha256(text);
    return { seq, text, hash: previous, hmac: hmacKey ? computeHmac(text, hmacKey) : '' };
  });
}

/** Lower-case hex HMAC-SHA256. */
export const computeHmac = (text: string, key: KeyObject): string =>
  createHmac('sha256', key).update(text).digest('hex');

/** The event with its hashes, as clients read it. @throws SyntaxError when the stored text is not JSON */
export function toAuditEvent({ text, hash: eventHash, hmac }: Omit<SealedEvent, 'seq'>): AuditEvent {
  return { ...(JSON.parse(text) as AuditEvent), event_hash: eventHash, ...(hmac && { hmac }) };
}

/** `<seq>:<hash>`, as the head is stored. */
export const headText = ({ seq, hash: eventHash }: ChainHead): string => (seq === 0 ? '' : `${seq}:${eventHash}`);

/** @returns undefined when the text is no head */
export function parseHead(text: string): ChainHead | undefined {
  if (text === '') return emptyHead;
  const [, seq, eventHash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  return eventHash === undefined ? undefined : { seq: Number(seq), hash: eventHash };
}
