/** Managed API keys, roles and permissions. */
export { gateRules, type AccessDeps } from './access-deps';
export { ManagedKeys, type ManagedKeysDeps } from './managed-keys';
export { RoleBook, type RoleBookDeps, type Roles } from './role-book';
export { accessRoutes, type AccessContext } from './routes';
