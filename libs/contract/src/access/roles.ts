import Joi from 'joi';
import { endpoint } from '../endpoint';
import { text } from '../fields';
import { limits } from '../limits';
import { permissions, type Permission } from '../permissions';
import { shape } from '../shape';

/** See docs/reference/access.md#roles. */
export interface RoleView {
  name: string;
  description: string;
  permissions: string[];
  inherits: string[];
  built_in: boolean;
  created_at: string;
  updated_at: string;
}
export interface RoleList {
  roles: RoleView[];
  entitled: boolean;
}
export interface RoleDetail {
  role: RoleView;
  resolved_permissions: string[];
}
/** An absent field leaves a stored role as it is. */
export interface WriteRoleBody {
  description?: string;
  permissions?: Permission[];
  inherits?: string[];
}

const roleView = shape<RoleView>({
  required: {
    name: text('Name of the role.'),
    description: text('What the role is for.'),
    permissions: Joi.array().items(Joi.string()).description('Permissions of the role itself.'),
    inherits: Joi.array().items(Joi.string()).description('Roles whose permissions it has as well.'),
    built_in: Joi.boolean().description('Whether the product defines the role.'),
    created_at: text('Time of creation.'),
    updated_at: text('Time of the last change.'),
  },
});
const roleName = Joi.string()
  .max(256)
  .description('Name of the role: 2 to 63 lower-case letters, digits, - and _; spaces around it and case are ignored.');
const mayRead = { permission: 'roles.read', roles: ['admin'] } as const;
const mayWrite = { permission: 'roles.write', roles: ['admin'] } as const;
const fault = 'rbac_request_invalid';

export const listRoles = endpoint({
  id: 'roles.list',
  method: 'get',
  path: '/api/v1/auth/roles',
  summary: 'Roles of the installation, by name',
  description: 'Without the entitlement RBAC, the built-in roles.',
  access: mayRead,
  params: {},
  answer: {
    status: 200,
    body: shape<RoleList>({
      required: {
        roles: Joi.array().items(roleView),
        entitled: Joi.boolean().description('Whether the license includes RBAC, so that permissions of roles decide.'),
      },
    }),
  },
  errors: ['store_unavailable'],
});

export const getRole = endpoint({
  id: 'roles.get',
  method: 'get',
  path: '/api/v1/auth/roles/:name',
  summary: 'A role, and all permissions it has',
  access: mayRead,
  params: { name: roleName },
  answer: {
    status: 200,
    body: shape<RoleDetail>({
      required: {
        role: roleView,
        resolved_permissions: Joi.array()
          .items(Joi.string())
          .description('Its permissions and those of the roles it inherits, sorted.'),
      },
    }),
  },
  errors: [fault, 'rbac_role_not_found', 'store_unavailable'],
  owner: 'installation',
});

export const putRole = endpoint({
  id: 'roles.put',
  method: 'put',
  path: '/api/v1/auth/roles/:name',
  summary: 'Create or change a role',
  description:
    'Roles belong to the installation. An absent field leaves a stored role as it is. A role never gets a permission that the caller does not hold.',
  access: mayWrite,
  entitledBy: ['rbac'],
  audit: { type: 'auth.role_upserted', action: 'role.put', resource: ['role', 'name'], severity: 'HIGH' },
  params: { name: roleName },
  body: shape<WriteRoleBody>({
    required: {},
    optional: {
      description: Joi.string().allow('').max(limits.roleDescriptionChars).description('What the role is for.'),
      permissions: Joi.array()
        .items(Joi.string<Permission>().valid(...permissions))
        .max(limits.rolePermissions)
        .description('Permissions of the role itself; only the role admin may have `admin.*`.'),
      inherits: Joi.array()
        .items(Joi.string().max(256))
        .max(limits.roleParents)
        .description('Roles whose permissions it has as well.'),
    },
  }),
  violationCodes: { description: fault, permissions: 'rbac_permission_invalid', inherits: fault },
  answer: { status: 200, body: shape<{ role: RoleView }>({ required: { role: roleView } }) },
  errors: [
    fault,
    'rbac_permission_invalid',
    'rbac_role_protected',
    'rbac_version_conflict',
    'grant_exceeds_caller',
    'tier_limit_exceeded',
    'tenant_access_denied',
    'store_unavailable',
  ],
  owner: 'installation',
});

export const removeRole = endpoint({
  id: 'roles.remove',
  method: 'delete',
  path: '/api/v1/auth/roles/:name',
  summary: 'Delete a role that no role and no user has',
  access: mayWrite,
  entitledBy: ['rbac'],
  audit: { type: 'auth.role_deleted', action: 'role.delete', resource: ['role', 'name'], severity: 'HIGH' },
  params: { name: roleName },
  answer: {
    status: 200,
    body: shape<{ deleted: boolean; name: string }>({
      required: { deleted: Joi.boolean().description('Always true.'), name: text('Name of the deleted role.') },
    }),
  },
  errors: [
    fault,
    'rbac_role_undeletable',
    'rbac_role_not_found',
    'rbac_role_in_use',
    'rbac_version_conflict',
    'tier_limit_exceeded',
    'tenant_access_denied',
    'store_unavailable',
  ],
  owner: 'installation',
});

export const roleEndpoints = [listRoles, getRole, putRole, removeRole] as const;
