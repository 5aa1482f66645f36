import {
  AppError,
  grantsAll,
  resolvePermissions,
  type Access,
  type Caller,
  type Endpoint,
  type EntitlementName,
  type Role,
} from '@svc/contract';
import { hasResourceScope } from '@svc/identity';

export interface GateRules {
  /** Whether the license entitles RBAC. */
  rbac(): boolean;
  /** Whether the license includes a feature; default: all. */
  isEntitled?(name: EntitlementName): boolean;
  /** Stored and built-in roles; default: the built-in ones. */
  roles?(): Readonly<Record<string, Role>>;
}

/**
 * Whether a caller may use a route: with RBAC entitled the permission alone decides, so that custom roles work; without it
 * the route's roles do. See docs/reference/http.md#authorization.
 */
export function mayUse(
  caller: Pick<Caller, 'role'>,
  { permission, also = [], roles }: Access,
  rules: GateRules,
): boolean {
  if (permission && rules.rbac()) {
    const held = resolvePermissions(caller.role, rules.roles?.());
    return grantsAll(held, [permission, ...also]);
  }
  return roles === 'any' || roles.some((role) => role === caller.role);
}

/**
 * Whether a caller may use a route: as `mayUse`; in addition, a scope for the resource of the route replaces its permission.
 * Whether the scopes of a key allow the route at all is checked with the credential. See docs/reference/access.md#scopes.
 */
export function mayCall(
  caller: Caller,
  { method, path, access }: Pick<Endpoint, 'method' | 'path' | 'access'>,
  rules: GateRules,
): boolean {
  if (access === 'public') return true;
  // The permission `admin.*` marks routes for the role admin alone.
  const isScoped = access.permission !== undefined && access.permission !== 'admin.*';
  const isGranted = isScoped && caller.scopes !== undefined && hasResourceScope(caller.scopes, method, path);
  if (!isGranted) return mayUse(caller, access, rules);
  const held = resolvePermissions(caller.role, rules.roles?.());
  return grantsAll(held, access.also ?? []);
}

/** Whether the license includes a feature that a route requires. */
export const isEntitled = ({ entitledBy }: Pick<Endpoint, 'entitledBy'>, rules: GateRules): boolean =>
  !entitledBy || entitledBy.some((name) => rules.isEntitled?.(name) !== false);

/**
 * Authorizes a caller for a route.
 *
 * @throws access_denied, tier_limit_exceeded
 */
export function authorize(caller: Caller, endpoint: Endpoint, rules: GateRules): void {
  if (!mayCall(caller, endpoint, rules)) throw new AppError('access_denied');
  if (isEntitled(endpoint, rules)) return;
  const limit = endpoint.entitledBy?.[0] ?? '';
  const message = `the license does not include ${limit.replaceAll('_', ' ')}`;
  throw new AppError('tier_limit_exceeded', { message, limit, current: 0, allowed: 0, upgrade_url: '' });
}
