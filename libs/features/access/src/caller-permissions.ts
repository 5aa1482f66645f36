import {
  endpoints,
  resolvePermissions,
  type Access,
  type Caller,
  type CallerPermissions,
  type Endpoint,
  type RoutePermission,
} from '@svc/contract';
import { isEntitled, mayCall } from '@svc/http';
import { missingScope } from '@svc/identity';
import { type AccessDeps, gateRules } from './access-deps';

/** What the caller may do, derived from the table of endpoints by the checks that requests pass. */
export function listCallerPermissions(
  deps: Pick<AccessDeps, 'license' | 'roleBook'>,
  caller: Caller,
): CallerPermissions {
  const rules = gateRules(deps);
  const routes = endpoints.map((endpoint: Endpoint): RoutePermission => {
    const refusal = findRefusal(endpoint, caller, rules);
    const { id, method, path } = endpoint;
    return { id, method: method.toUpperCase(), path, allowed: refusal === undefined, ...refusal };
  });
  return {
    role: caller.role,
    rbac: rules.rbac(),
    permissions: [...resolvePermissions(caller.role, deps.roleBook.all())].sort(),
    ...(caller.scopes && { scopes: [...caller.scopes] }),
    routes,
  };
}

type Refusal = Required<Pick<RoutePermission, 'reason' | 'required'>>;

/** The first check that refuses the caller, in the order of a request; undefined when none does. */
function findRefusal(endpoint: Endpoint, caller: Caller, rules: ReturnType<typeof gateRules>): Refusal | undefined {
  const { access, method, path, entitledBy = [] } = endpoint;
  if (access === 'public') return undefined;
  const scope = missingScope(caller.scopes ?? [], method, path);
  if (scope !== undefined) return { reason: 'key_scope_insufficient', required: [scope] };
  if (!mayCall(caller, endpoint, rules)) return toRefusal(access, rules.rbac());
  if (!isEntitled(endpoint, rules)) return { reason: 'entitlement_missing', required: [...entitledBy] };
  return undefined;
}

function toRefusal({ permission, also = [], roles }: Access, isRbac: boolean): Refusal {
  if (permission && isRbac) return { reason: 'permission_missing', required: [permission, ...also] };
  return { reason: 'role_not_permitted', required: roles === 'any' ? [] : [...roles] };
}
