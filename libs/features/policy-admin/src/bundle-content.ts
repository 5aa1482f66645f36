import { AppError, type Problem, type Signed } from '@svc/contract';
import {
  contentHash,
  prepareBundle,
  signBundle,
  type BundleRecord,
  type PolicyDocument,
  type SigningKey,
} from '@svc/policy';
import type { PolicyWriteDeps } from './policy-deps';

export interface PreparedContent {
  content: string;
  document: PolicyDocument;
}

/**
 * Validates a submitted policy text and returns the text to store.
 *
 * @param field of the body that held the text, for the violations
 * @throws policy_validation_failed with the line of each problem, request_too_large
 */
export function prepareContent(
  { maxContentBytes }: Pick<PolicyWriteDeps, 'maxContentBytes'>,
  { id, content, field = 'content' }: { id: string; content: string; field?: string },
): PreparedContent {
  if (Buffer.byteLength(content) > maxContentBytes) throw tooLarge(maxContentBytes);
  const prepared = prepareBundle(content, id);
  if (!prepared.ok) throw invalidPolicy(prepared.problems, field);
  // The normalized text may be larger than the original, and kernels would reject it.
  if (Buffer.byteLength(prepared.content) > maxContentBytes) throw tooLarge(maxContentBytes);
  return prepared;
}

const tooLarge = (limitBytes: number) => new AppError('request_too_large', { limit_bytes: limitBytes });

const MAX_SHOWN = 100;

/** The error for an invalid policy text, with line numbers. */
export function invalidPolicy(problems: readonly Problem[], field: string): AppError {
  const [first] = problems;
  const firstProblem = first && { error: `line ${first.line}${first.path && ` ${first.path}`}: ${first.message}` };
  const violations = problems
    .slice(0, MAX_SHOWN)
    .map(({ line, column, path, message }) => ({ in: 'body', field, path, line, column, message }));
  return new AppError('policy_validation_failed', { ...firstProblem, violations });
}

/** The stored fields of a bundle besides its text. */
export interface BundleWrite extends Signed {
  enabled: boolean;
  version?: string;
  /** Of an override: the tenant of its workflow. */
  tenant?: string;
}

/**
 * Builds the record of a new bundle or of a new version of one.
 * See docs/reference/policy.md#bundles.
 */
export function bundleRecord(
  content: string,
  { enabled, author, message, version, tenant }: BundleWrite,
  { replaced, key, now }: { replaced: BundleRecord | undefined; key: SigningKey | undefined; now: string },
): BundleRecord {
  const { installed_at, version: before } = replaced ?? {};
  const storedVersion = version ?? before;
  return {
    content,
    enabled,
    ...(author && { author }),
    ...(tenant && { tenant }),
    ...(message && { message }),
    created_at: replaced?.created_at ?? now,
    updated_at: now,
    ...(storedVersion && { version: storedVersion }),
    ...(installed_at && { installed_at }),
    sha256: contentHash(content),
    ...(key && { _signature: signBundle(content, key) }),
  };
}

/** Formats a timestamp as stored. */
export const formatTime = (ms: number): string => new Date(ms).toISOString();
