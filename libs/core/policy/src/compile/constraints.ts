import type { Constraints } from '../document/policy-document';

/** Whether anything is limited at all: `{}`, an empty list and `isolated: false` limit nothing. */
export const isConstraining = (constraints: Constraints | undefined): constraints is Constraints =>
  Object.values(constraints ?? {}).some((value) => leafLimits(value));

function leafLimits(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object' && value !== null) return Object.values(value).some(leafLimits);
  return value !== undefined && value !== false && value !== '';
}

/**
 * The constraints of a global and of a narrower rule together, each limit being the tighter of the two: a job may not
 * give itself more time than its tenant's policy does. See docs/reference/policy.md#evaluation.
 */
export function tighter(wide: Constraints | undefined, narrow: Constraints | undefined): Constraints | undefined {
  if (!wide || !narrow) return wide ?? narrow;
  const merged = both(wide, narrow);
  return {
    ...merged,
    ...(wide.budgets && narrow.budgets && { budgets: both(wide.budgets, narrow.budgets) }),
    ...(wide.sandbox && narrow.sandbox && { sandbox: both(wide.sandbox, narrow.sandbox) }),
    ...(wide.toolchain && narrow.toolchain && { toolchain: both(wide.toolchain, narrow.toolchain) }),
    ...(wide.diff && narrow.diff && { diff: both(wide.diff, narrow.diff) }),
  };
}

/** Lists that forbid or remove grow when joined; all other lists allow, and shrink to what both allow. */
const growing = new Set(['deny_path_globs', 'redact_patterns']);

function both<T extends object>(wide: T, narrow: T): T {
  const joined: T = { ...wide };
  for (const key in narrow) {
    const value = narrow[key];
    if (value !== undefined) joined[key] = tighterLeaf(key, wide[key], value);
  }
  return joined;
}

function tighterLeaf<V>(key: string, wide: V | undefined, narrow: V): V;
function tighterLeaf(key: string, wide: unknown, narrow: unknown): unknown {
  if (wide === undefined) return narrow;
  if (typeof wide === 'number' && typeof narrow === 'number') return Math.min(wide, narrow);
  if (typeof wide === 'boolean') return wide || narrow === true;
  if (Array.isArray(wide) && Array.isArray(narrow)) {
    if (growing.has(key)) return [...new Set([...wide, ...narrow])];
    const shared = wide.filter((value) => narrow.includes(value));
    // An empty list would read as "no limit" further on.
    return shared.length > 0 ? shared : wide;
  }
  // A word such as redaction_level has no order here, so the wider rule's stands.
  return wide;
}
