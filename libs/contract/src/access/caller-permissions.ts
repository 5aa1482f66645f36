import Joi from 'joi';
import { endpoint } from '../endpoint';
import { text } from '../fields';
import { shape } from '../shape';

/** Reasons for which a caller may not use a route, in the order of the checks. */
const routeRefusals = [
  'key_scope_insufficient',
  'permission_missing',
  'role_not_permitted',
  'entitlement_missing',
] as const;
type RouteRefusal = (typeof routeRefusals)[number];

export interface RoutePermission {
  id: string;
  method: string;
  path: string;
  allowed: boolean;
  reason?: RouteRefusal;
  required?: string[];
}
/** What the caller may do. See docs/reference/access.md#permissions-of-a-caller. */
export interface CallerPermissions {
  role: string;
  rbac: boolean;
  permissions: string[];
  scopes?: string[];
  routes: RoutePermission[];
}

const names = (description: string) => Joi.array().items(Joi.string().allow('')).description(description);

export const listCallerPermissions = endpoint({
  id: 'auth.permissions',
  method: 'get',
  path: '/api/v1/auth/permissions',
  summary: 'Permissions of the caller, and the routes it may use',
  access: { roles: 'any' },
  params: {},
  answer: {
    status: 200,
    body: shape<CallerPermissions>({
      required: {
        role: text('Role of the caller.'),
        rbac: Joi.boolean().description('Whether permissions decide; otherwise the roles of each route do.'),
        permissions: names('Permissions of the role, with those of the roles it inherits, sorted.'),
        routes: Joi.array().items(
          shape<RoutePermission>({
            required: {
              id: text('Id of the route.'),
              method: text('HTTP method.'),
              path: text('Path, with its parameters as :name.'),
              allowed: Joi.boolean().description('Whether the caller may use the route.'),
            },
            optional: {
              reason: Joi.string<RouteRefusal>()
                .valid(...routeRefusals)
                .description('Why it may not.'),
              required: names(
                'The scope, permissions, roles or entitlement that are missing; any one of several roles.',
              ),
            },
          }),
        ),
      },
      optional: { scopes: names('Scopes of the API key.') },
    }),
  },
  errors: [],
});

export const permissionEndpoints = [listCallerPermissions] as const;
