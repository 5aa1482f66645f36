import type { Constraints } from '../document/policy-document';

/** Whether the constraints limit anything: `{}`, an empty list and `isolated: false` do not. */
export const isConstraining = (constraints: Constraints | undefined): constraints is Constraints =>
  Object.values(constraints ?? {}).some((value) => leafLimits(value));

function leafLimits(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object' && value !== null) return Object.values(value).some(leafLimits);
  return value !== undefined && value !== false && value !== '';
}

/**
 * Combines the constraints of a global and a narrower rule; the tighter limit wins, so a job cannot exceed the limits of
 * its tenant's policy. See docs/reference/policy.md#evaluation.
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

/** Lists that forbid or remove are joined; all others allow, and are intersected. */
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
    // An empty list would later read as "no limit".
    return shared.length > 0 ? shared : wide;
  }
  // Words such as redaction_level have no order here, so the wider rule's value wins.
  return wide;
}
