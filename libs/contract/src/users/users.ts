import Joi from 'joi';
import { endpoint } from '../endpoint';
import { shape } from '../shape';
import {
  authUser,
  type AuthUser,
  displayName,
  emailAddress,
  enteredPassword,
  newUsername,
  roleNameField,
  userId,
} from './user-fields';

const mayRead = { permission: 'users.read', roles: ['admin'] } as const;
const mayWrite = { permission: 'users.write', roles: ['admin'] } as const;
const fault = 'auth_request_invalid';

export interface UserList {
  items: AuthUser[];
}

export const listUsers = endpoint({
  id: 'users.list',
  method: 'get',
  path: '/api/v1/users',
  summary: 'Enabled users of the tenant, by username',
  access: mayRead,
  params: {},
  answer: { status: 200, body: shape<UserList>({ required: { items: Joi.array().items(authUser) } }) },
  errors: [fault, 'store_unavailable'],
});

export interface CreateUserBody {
  username: string;
  password: string;
  email?: string;
  display_name?: string;
  tenant?: string;
  role?: string;
}

export const createUser = endpoint({
  id: 'users.create',
  method: 'post',
  path: '/api/v1/users',
  summary: 'Create a user',
  description: 'The role must not permit more than that of the caller.',
  access: mayWrite,
  audit: 'self',
  params: {},
  body: shape<CreateUserBody>({
    required: { username: newUsername, password: enteredPassword.description('Password.') },
    optional: {
      email: emailAddress,
      display_name: displayName,
      tenant: Joi.string().max(128).allow('').description('Tenant; the caller’s otherwise.'),
      role: roleNameField.allow('').description('Role; user otherwise.'),
    },
  }),
  violationCodes: {
    ...{ username: fault, password: fault, email: fault, display_name: fault, tenant: fault, role: fault },
  },
  answer: { status: 201, body: authUser },
  errors: [
    ...([
      fault,
      'auth_password_invalid',
      'grant_exceeds_caller',
      'tenant_access_denied',
      'auth_user_conflict',
    ] as const),
    ...(['auth_users_full', 'overloaded', 'store_unavailable'] as const),
  ],
});

export interface UpdateUserBody {
  email?: string;
  display_name?: string;
  roles?: string[];
}

export const updateUser = endpoint({
  id: 'users.update',
  method: 'put',
  path: '/api/v1/users/:id',
  summary: 'Change a user',
  description: 'Empty values leave a field as it is. A role that permits less ends the sessions of the user.',
  access: mayWrite,
  audit: 'self',
  params: { id: userId },
  body: shape<UpdateUserBody>({
    required: {},
    optional: {
      email: emailAddress,
      display_name: displayName,
      roles: Joi.array().items(roleNameField).max(32).description('The first one is the role.'),
    },
  }),
  violationCodes: { email: fault, display_name: fault, roles: fault },
  answer: { status: 200, body: authUser },
  errors: [
    ...([fault, 'access_denied', 'grant_exceeds_caller', 'auth_user_not_found', 'auth_user_conflict'] as const),
    ...(['auth_last_admin', 'auth_user_version_conflict', 'store_unavailable'] as const),
  ],
  otherTenant: 'absent',
});

export const deleteUser = endpoint({
  id: 'users.delete',
  method: 'delete',
  path: '/api/v1/users/:id',
  summary: 'Disable a user',
  description: 'The record is kept, sessions end at once, and the e-mail address is free for others.',
  access: mayWrite,
  audit: 'self',
  params: { id: userId },
  answer: { status: 204 },
  errors: [
    ...([fault, 'access_denied', 'auth_user_not_found', 'auth_last_admin'] as const),
    ...(['auth_user_version_conflict', 'store_unavailable'] as const),
  ],
  otherTenant: 'absent',
});

export interface SetPasswordBody {
  password: string;
}

export const setPassword = endpoint({
  id: 'users.setPassword',
  method: 'post',
  path: '/api/v1/users/:id/password',
  summary: 'Replace the password of a user',
  description: 'Ends the sessions of the user.',
  access: mayWrite,
  audit: 'self',
  params: { id: userId },
  body: shape<SetPasswordBody>({ required: { password: enteredPassword.description('New password.') } }),
  violationCodes: { password: fault },
  answer: { status: 204 },
  errors: [
    ...([fault, 'auth_password_invalid', 'access_denied', 'auth_user_not_found'] as const),
    ...(['auth_user_version_conflict', 'overloaded', 'store_unavailable'] as const),
  ],
  otherTenant: 'absent',
});

export const resetTotp = endpoint({
  id: 'users.resetTotp',
  method: 'delete',
  path: '/api/v1/users/:id/totp',
  summary: 'Remove the second factor of a user who has lost it',
  description: 'Ends the sessions of the user.',
  access: mayWrite,
  audit: 'self',
  params: { id: userId },
  answer: { status: 204 },
  errors: [
    ...([fault, 'access_denied', 'auth_user_not_found', 'auth_user_version_conflict'] as const),
    'store_unavailable',
  ],
  otherTenant: 'absent',
});

export const userEndpoints = [listUsers, createUser, updateUser, deleteUser, setPassword, resetTotp] as const;
