/** Scopes that give a key the permissions of a role, on every resource. See docs/reference/access.md#scopes. */
const roleScopes = ['read', 'viewer', 'write', 'operator', 'admin'] as const;

/** Resources that a key may be limited to. */
export const scopedResources = [
  ...['jobs', 'audit', 'workflows', 'approvals', 'delegations', 'packs', 'policy', 'topics', 'schemas'],
] as const;

/** Every scope that a key may have. */
export const keyScopes: readonly string[] = [
  ...roleScopes,
  ...scopedResources.flatMap((resource) => [`${resource}:read`, `${resource}:write`, `${resource}:*`]),
];
