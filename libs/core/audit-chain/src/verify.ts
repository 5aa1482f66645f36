import type { KeyObject } from 'node:crypto';
import { emptyHead, computeHmac, sha256, type ChainHead } from './chain';

export const gapTypes = [
  'missing',
  'out_of_order',
  'hash_mismatch',
  'hmac_mismatch',
  'retention_trimmed',
  'head',
  'checkpoint',
  'anchor',
] as const;
export type GapType = (typeof gapTypes)[number];

/** `at_seq`: the first event that is affected. */
export interface ChainGap {
  at_seq: number;
  type: GapType;
}

export type ChainStatus = 'ok' | 'partial' | 'compromised';

/** An event as stored. */
export interface StoredEvent {
  text: string;
  hash: string;
  hmac: string;
}

/** A head that was published outside of the store. */
export interface Witness {
  seq: number;
  hash: string;
  type: 'checkpoint' | 'anchor';
}

export interface VerifyOptions {
  /** The event before the first that is read; undefined = unknown, because the range begins later. */
  before?: ChainHead | undefined;
  hmacKey?: KeyObject | undefined;
  /** In ascending order of `seq`. */
  witnesses?: readonly Witness[];
}

export interface ChainReport {
  status: ChainStatus;
  total: number;
  verified: number;
  gaps: ChainGap[];
  firstSeq: number;
  lastSeq: number;
  hmacVerified: number;
  hmacSkipped: number;
  hmacSeen: number;
}

const MAX_GAPS = 1_000;
const linkKey = '"prev_hash":"';

/**
 * Verifies events in their order: hashes, links, sequence numbers and, with a key, HMACs; and the heads that were published
 * outside of the chain. What the first faulty event is stays visible: later faults that follow from it are not reported.
 */
export class ChainVerifier {
  private last: ChainHead | undefined;
  private readonly gaps: ChainGap[] = [];
  private readonly witnesses: Witness[];
  private readonly hmacKey: KeyObject | undefined;
  private firstSeq = 0;
  private total = 0;
  private verified = 0;
  private hmacVerified = 0;
  private hmacSeen = 0;

  constructor({ before, hmacKey, witnesses = [] }: VerifyOptions = {}) {
    this.last = before;
    this.hmacKey = hmacKey;
    this.witnesses = [...witnesses];
  }

  add({ text, hash, hmac }: StoredEvent): void {
    this.total += 1;
    const seq = readSeq(text);
    if (seq === undefined || sha256(text) !== hash) {
      this.fault(seq ?? (this.last?.seq ?? 0) + 1, 'hash_mismatch');
      // The stored hash is what the next event was linked to.
      this.last = { seq: seq ?? (this.last?.seq ?? 0) + 1, hash };
      return;
    }
    const faultsBefore = this.gaps.length;
    this.checkPlace(seq, text);
    this.checkHmac(seq, text, hmac);
    if (this.firstSeq === 0) this.firstSeq = seq;
    this.last = { seq, hash };
    this.checkWitnesses(seq, hash);
    if (this.gaps.length === faultsBefore) this.verified += 1;
  }

  /** The last event that was added, or the one before the range. */
  get lastSeq(): number {
    return this.last?.seq ?? 0;
  }

  private checkPlace(seq: number, text: string): void {
    const { last } = this;
    if (!last) return;
    if (seq <= last.seq) return this.fault(seq, 'out_of_order');
    if (seq > last.seq + 1) return this.fault(last.seq + 1, 'missing');
    if (!isLinked(text, last.hash)) this.fault(seq, 'hash_mismatch');
  }

  private checkHmac(seq: number, text: string, hmac: string): void {
    if (hmac) this.hmacSeen += 1;
    if (!this.hmacKey) return;
    // Events without one were written before there was a key. Removing HMACs changes no event: hashes and links remain.
    if (!hmac) return;
    if (computeHmac(text, this.hmacKey) === hmac) this.hmacVerified += 1;
    else this.fault(seq, 'hmac_mismatch');
  }

  private checkWitnesses(seq: number, hash: string): void {
    for (let next = this.witnesses[0]; next && next.seq <= seq; next = this.witnesses[0]) {
      this.witnesses.shift();
      if (next.seq === seq && next.hash !== hash) this.fault(seq, next.type);
    }
  }

  private fault(at_seq: number, type: GapType): void {
    if (this.gaps.length < MAX_GAPS) this.gaps.push({ at_seq, type });
  }

  /**
   * @param head the stored head, undefined when the range ends before it
   * @param trimmed number of events that retention removed before the first, which is no fault
   */
  finish(head: ChainHead | undefined, trimmed = 0): ChainReport {
    const last = this.last ?? emptyHead;
    if (head && (head.seq !== last.seq || head.hash !== last.hash)) {
      this.fault(Math.min(head.seq, last.seq) + (head.seq === last.seq ? 0 : 1), 'head');
    }
    // Events that were published and are not there.
    const beyond = head ? this.witnesses[0] : undefined;
    if (beyond) this.fault(last.seq + 1, beyond.type);
    const { gaps, total, verified, firstSeq, hmacVerified, hmacSeen } = this;
    const isPartial = trimmed > 0 || (hmacSeen > 0 && !this.hmacKey);
    const status = gaps.length > 0 ? 'compromised' : isPartial ? 'partial' : 'ok';
    const trims: ChainGap[] = trimmed > 0 ? [{ at_seq: trimmed, type: 'retention_trimmed' }] : [];
    return {
      status,
      total,
      verified,
      gaps: [...trims, ...gaps],
      firstSeq,
      lastSeq: total > 0 ? last.seq : 0,
      hmacVerified,
      hmacSkipped: hmacSeen - hmacVerified,
      hmacSeen,
    };
  }
}

/** Read from the end, where only the severity, the tenant and the time follow: cheaper than parsing the event. */
function readSeq(text: string): number | undefined {
  const at = text.lastIndexOf(',"seq":');
  const seq = at < 0 ? NaN : Number(text.slice(at + 7, text.indexOf(',', at + 7)));
  return Number.isSafeInteger(seq) && seq > 0 ? seq : undefined;
}

/** In a canonical event a quotation mark inside a value is escaped, so the key is found only where it is one; the last is the event's. */
function isLinked(text: string, hash: string): boolean {
  const at = text.lastIndexOf(linkKey);
  return at < 0 ? hash === '' : text.startsWith(`${hash}"`, at + linkKey.length);
}
