/** SCIM 2.0: provisioning of users and groups by an identity provider. */
export { applyRoles } from './groups/apply-roles';
export { checkScimToken } from './tokens/check-token';
export { GroupRepository } from './groups/group.repository';
export { scimRoutes, type ScimContext } from './routes';
export { TOKEN_OVERLAP_MS } from './tokens/settings';
export { TokenRepository } from './tokens/token.repository';
export type { ScimDeps } from './scim-deps';
