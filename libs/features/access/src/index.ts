/** Managed API keys, roles and permissions. */
export { gateRules } from './access-deps';
export { ManagedKeys } from './managed-keys';
export { RoleBook, type Roles } from './role-book';
export { accessRoutes, type AccessContext } from './routes';
