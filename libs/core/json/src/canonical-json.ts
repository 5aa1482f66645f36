import { hash } from 'node:crypto';
import { configure } from 'safe-stable-stringify';
import { isRecord } from './is-record';

const stringify = configure({ deterministic: true, circularValue: Error, bigint: false });

const sha256 = (text: string): string => hash('sha256', text);

/**
 * JSON with the keys of every object in the order of RFC 8785 (by UTF-16 code unit) and without spaces: equal values have
 * equal texts. Fields that are undefined are left out.
 */
export const canonicalJson = (value: unknown): string => stringify(value) ?? 'null';

/** SHA-256 of the canonical JSON, 64 hex digits. */
export const canonicalHash = (value: unknown): string => sha256(canonicalJson(value));

/**
 * SHA-256, 64 hex digits, of JSON with sorted keys, where integer keys come first and by number, as JavaScript lists them.
 * Stored with idempotency keys and workflow versions, so its order must not change. New hashes use {@link canonicalHash}.
 * See docs/adr/0017-two-orders-of-json-keys.md.
 */
export const fingerprint = (value: unknown): string => sha256(JSON.stringify(value, (_key, field) => sorted(field)));

/** Comparison by code unit; JavaScript lists integer keys first whatever the order in which they were set. */
const sorted = (value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
