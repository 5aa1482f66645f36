import type { ActionBody } from '@svc/contract';
import { canonicalHash } from '@svc/json';

/**
 * The hash that an approval is bound to: SHA-256, hex, of every relevant field of the action. Empty fields are left out,
 * and tags and wildcards are sorted, so that equivalent actions have the same hash.
 * See docs/reference/policy.md#action-checks.
 */
export function bindingHash(action: ActionBody): string {
  const { kind, verb, server, tool, target_path, target_url, target_resource, filters, wildcards, args } = action;
  const { type, id, owner_tenant } = target_resource ?? {};
  const parts = {
    kind, verb, server, tool, target_path, target_url,
    target_resource: withoutEmpty({ type, id, owner_tenant }),
    filters, wildcards: [...wildcards].sort(), args, risk_tags: [...action.risk_tags].sort(),
  }; // prettier-ignore
  return canonicalHash(withoutEmpty(parts));
}

const withoutEmpty = (parts: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(parts).filter(([, value]) => !isEmpty(value)));

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);
