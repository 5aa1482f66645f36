import { maskTokens } from '@svc/scanning';

/** Replaces secrets within a text. */
export type Masker = (text: string) => string;

/** Names of fields that are masked, with their synonyms. */
const secretKey = /password|passwd|secret|token|api[_-]?key|credential|auth|cookie|private[_-]?key/i;
export const redacted = '[REDACTED]';
const maxDepth = 5;
const maxItems = 50;
const maxText = 4_096;
/** Maximum characters that masking reads, which bounds the cost of a line. */
const maxMasked = 2 * maxText;

/**
 * Forms that scanners skip because of false positives, which are harmless in a log: truncated or encrypted tokens, and
 * values sent as credentials. Each runs over text from outside, so every repetition is bounded.
 */
const obvious: readonly [RegExp, string][] = [
  [/\beyJ[A-Za-z0-9_-]{8,2048}\.[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{0,1024}/g, redacted],
  [/\b(bearer|basic) +[A-Za-z0-9._~+/=-]{8,4096}/gi, `$1 ${redacted}`],
  [/:\/\/[^\s/@:]{0,256}:[^\s/@]{1,256}@/g, `://${redacted}@`],
  [/\b(session|scim)-[A-Za-z0-9_-]{32,256}/g, redacted],
  [/\b(sk|pk|rk|gh[pousr]|xox[abprs]|glpat)[_-][A-Za-z0-9_-]{16,256}/g, redacted],
  [/\b(password|passwd|secret|token|api[_-]?key)=[^\s&"']{1,512}/gi, `$1=${redacted}`],
];

/**
 * Masks texts that have the form of a secret: tokens, private keys, passwords in URLs. Access keys,
 * tokens and private keys look here as they do to the `secret` scanner.
 */
export const maskObvious: Masker = (text) =>
  obvious.reduce((masked, [form, by]) => masked.replace(form, by), maskTokens(text));

/** Masks these exact values in any text, longest first so that no part of one remains. */
export function maskValues(secrets: readonly string[]): Masker {
  const longestFirst = [...new Set(secrets)].filter((secret) => secret !== '').sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((masked, secret) => masked.replaceAll(secret, redacted), text);
}

/**
 * A copy of a field that is safe to log: values under secret keys replaced, secrets within texts masked, errors
 * expanded with their causes, long and deep values truncated.
 */
export function redactField(key: string, value: unknown, mask: Masker, depth = 0): unknown {
  if (value === undefined || value === null) return value;
  if (secretKey.test(key)) return redacted;
  if (typeof value === 'string') return maskText(value, mask);
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (value instanceof Error) return maskText(describeError(value), mask);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
  if (typeof value !== 'object') return maskText(String(value), mask);
  if (depth >= maxDepth) return '[deeper]';
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.slice(0, maxItems).map((item) => redactField('', item, mask, depth + 1));
  const entries = Object.entries(value).slice(0, maxItems);
  return Object.fromEntries(
    entries.map(([name, inner]) => [maskText(name, mask), redactField(name, inner, mask, depth + 1)]),
  );
}

/** An error with its causes as one text; the stack is separate, see `formatStack`. */
function describeError(error: Error, depth = 0): string {
  const inner = error instanceof AggregateError ? error.errors : error.cause === undefined ? [] : [error.cause];
  const own = `${error.name}: ${error.message}`;
  if (inner.length === 0 || depth >= maxDepth) return own;
  const causes = inner.map((cause: unknown) =>
    cause instanceof Error ? describeError(cause, depth + 1) : String(cause),
  );
  return `${own} (caused by ${causes.join('; ')})`;
}

/** The frames of an error, masked; without the message, which is in the field itself. */
export function formatStack(error: Error, mask: Masker): string {
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return maskText(frames.map((line) => line.trim()).join(' | '), mask);
}

/** A text without secrets, truncated to the maximum length of a field. */
export function maskText(text: string, mask: Masker): string {
  const masked = mask(text.slice(0, maxMasked));
  return masked.length > maxText ? `${masked.slice(0, maxText)}…` : masked;
}
