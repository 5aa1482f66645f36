import { grants, resolvePermissions, type Access, type Caller, type Role } from '@svc/contract';

export interface GateRules {
  /** Whether the license entitles RBAC. */
  rbac(): boolean;
  /** Stored and built-in roles; default: the built-in ones. */
  roles?(): Readonly<Record<string, Role>>;
}

/**
 * Whether a caller may use a route: with RBAC entitled the permission alone decides, so that custom roles work; without it
 * the route's roles do. See docs/reference/http.md#authorization.
 */
export function mayUse(caller: Caller, { permission, also = [], roles }: Access, rules: GateRules): boolean {
  if (permission && rules.rbac()) {
    const held = resolvePermissions(caller.role, rules.roles?.());
    return [permission, ...also].every((wanted) => grants(held, wanted));
  }
  return roles === 'any' || roles.some((role) => role === caller.role);
}
