import { hash, timingSafeEqual } from 'node:crypto';

/** SHA-256 in hexadecimal, for storing keys and tokens, which are random enough to need no slow hash. */
export const sha256 = (text: string): string => hash('sha256', text);

/** Compares two digests of equal length in constant time. */
export const sameDigest = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
