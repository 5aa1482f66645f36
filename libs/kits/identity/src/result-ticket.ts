import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** The dispatch that a ticket belongs to and that a result names. */
export interface TicketBearer {
  jobId: string;
  dispatchId: string;
  workerId: string;
}

/** @template Facts of the record that the check of a result needs, so that the record is not read before; JSON */
export interface ResultTickets<Facts extends object> {
  /** @returns the sealed ticket; undefined when it would exceed {@link MAX_TICKET_BYTES} */
  seal(bearer: TicketBearer, facts: Facts, expiresAtMs: number): Uint8Array | undefined;
  /**
   * Never throws. A ticket replaces a read of the record, never the comparison with the record in the call that ends the job.
   *
   * @returns the facts; undefined when the ticket is missing, forged, expired, or of another dispatch: then read the record
   */
  open(sealed: Uint8Array, bearer: TicketBearer, nowMs: number): Facts | undefined;
}

interface Sealed<Facts> {
  bearer: TicketBearer;
  facts: Facts;
  expiresAtMs: number;
}

/** Maximum sealed ticket; every dispatch and result contains one. */
export const MAX_TICKET_BYTES = 16 * 1024;

/** A ticket without facts: it permits an inline result, whose job is then read from the store or a cache. */
export const blankTicket: Uint8Array = Buffer.of(0);

const ALGORITHM = 'aes-256-gcm';
const VERSION = 1;
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + SALT_BYTES + NONCE_BYTES;
const PURPOSE = 'svc:result-ticket';
/** Bounds the memory that salts invented by workers can occupy. */
const MAX_SALTS = 256;

/**
 * Seals and opens the tickets of dispatches. Encrypted, since a worker must not read policy facts of its jobs.
 *
 * Each process derives a key of its own from the secret and a random salt, so that a counter is a unique nonce, and the limit
 * for random nonces does not apply.
 *
 * @param secrets the first seals, all open: to rotate, put a new one first, and remove the old one after the longest job
 */
export function openResultTickets<Facts extends object>(secrets: readonly [string, ...string[]]): ResultTickets<Facts> {
  const salt = randomBytes(SALT_BYTES);
  const sealingKey = deriveKey(secrets[0], salt);
  const header = Buffer.concat([Buffer.of(VERSION), salt]);
  let sealed = 0;
  const keysBySalt = new Map<string, readonly Buffer[]>();

  /** The keys of a salt. Other processes are few, and a salt that is not theirs costs only its derivation. */
  function keysFor(saltBytes: Uint8Array): readonly Buffer[] {
    const name = Buffer.from(saltBytes).toString('latin1');
    const known = keysBySalt.get(name);
    if (known) return known;
    return secrets.map((secret) => deriveKey(secret, saltBytes));
  }

  function remember(saltBytes: Uint8Array, key: Buffer): void {
    const name = Buffer.from(saltBytes).toString('latin1');
    if (keysBySalt.has(name)) return;
    if (keysBySalt.size >= MAX_SALTS) keysBySalt.clear();
    keysBySalt.set(name, [key]);
  }

  return {
    seal(bearer, facts, expiresAtMs) {
      const ticket: Sealed<Facts> = { bearer, facts, expiresAtMs };
      const text = Buffer.from(JSON.stringify(ticket));
      if (HEADER_BYTES + text.length + TAG_BYTES > MAX_TICKET_BYTES) return undefined;
      sealed += 1;
      const nonce = Buffer.alloc(NONCE_BYTES);
      nonce.writeUIntBE(sealed, NONCE_BYTES - 6, 6);
      const cipher = createCipheriv(ALGORITHM, sealingKey, nonce).setAAD(header);
      return Buffer.concat([header, nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
    },
    open(bytes, bearer, nowMs) {
      if (bytes.length <= HEADER_BYTES + TAG_BYTES || bytes.length > MAX_TICKET_BYTES || bytes[0] !== VERSION)
        return undefined;
      const saltBytes = bytes.subarray(1, 1 + SALT_BYTES);
      for (const key of keysFor(saltBytes)) {
        const text = decrypt(bytes, key);
        if (text === undefined) continue;
        // Only after authentication: salts of forged tickets are not remembered.
        remember(saltBytes, key);
        const { bearer: owner, facts, expiresAtMs } = JSON.parse(text) as Sealed<Facts>;
        return nowMs <= expiresAtMs && isSame(owner, bearer) ? facts : undefined;
      }
      return undefined;
    },
  };
}

const deriveKey = (secret: string, salt: Uint8Array): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, PURPOSE, KEY_BYTES));

const isSame = (one: TicketBearer, other: TicketBearer): boolean =>
  one.jobId === other.jobId && one.dispatchId === other.dispatchId && one.workerId === other.workerId;

/** @returns undefined when the bytes were not sealed with this key */
function decrypt(bytes: Uint8Array, key: Buffer): string | undefined {
  const nonce = bytes.subarray(1 + SALT_BYTES, HEADER_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(bytes.subarray(0, 1 + SALT_BYTES)).setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const text = decipher.update(bytes.subarray(HEADER_BYTES, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
