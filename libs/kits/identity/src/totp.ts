import { Secret, TOTP } from 'otpauth';
import { sha256 } from './digest';

const PERIOD_SEC = 30;
/** Codes of the step before and after are accepted, for clocks that differ. */
const WINDOW_STEPS = 1;
/** As RFC 4226 recommends. */
const SECRET_BYTES = 20;
/** Too many bits to be tried out, so that a plain hash protects a recovery code. */
const RECOVERY_BYTES = 10;
const RECOVERY_CODES = 10;

const totp = (secret: Secret, label = '', issuer = '') =>
  new TOTP({ secret, label, issuer, algorithm: 'SHA1', digits: 6, period: PERIOD_SEC });

/** A new secret, in Base32. @param bytes source of randomness */
export const newTotpSecret = (bytes: (count: number) => Uint8Array): string => toBase32(bytes(SECRET_BYTES));

/** The URL that authenticator apps read as a QR code. It contains the secret. */
export const toTotpUrl = (secret: string, account: string, issuer: string): string =>
  totp(Secret.fromBase32(secret), account, issuer).toString();

/**
 * The time step of a code, for the caller to remember; undefined when the code is wrong or not newer than the last one.
 *
 * @param lastStep step of the last code that was accepted
 */
export function findTotpStep(secret: string, code: string, nowMs: number, lastStep = -1): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined;
  const timed = { token: code, timestamp: nowMs, window: WINDOW_STEPS };
  const delta = totp(Secret.fromBase32(secret)).validate(timed);
  if (delta === null) return undefined;
  const step = Math.floor(nowMs / 1_000 / PERIOD_SEC) + delta;
  return step > lastStep ? step : undefined;
}

/** Codes that each replace a code of the authenticator once. */
export const newRecoveryCodes = (bytes: (count: number) => Uint8Array): string[] =>
  Array.from({ length: RECOVERY_CODES }, () => (toBase32(bytes(RECOVERY_BYTES)).match(/.{4}/g) ?? []).join('-'));

/** The form in which a recovery code is stored. Case, spaces and hyphens do not matter. */
export const hashRecoveryCode = (code: string): string => sha256(code.toUpperCase().replace(/[\s-]/g, ''));

const toBase32 = (bytes: Uint8Array): string => new Secret({ buffer: Uint8Array.from(bytes).buffer }).base32;
