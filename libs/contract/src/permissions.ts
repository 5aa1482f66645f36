/** The 58 permission names. */
export const permissions = [
  'admin.*', 'agents.delegate', 'agents.read', 'agents.write', 'apiKeys.read', 'apiKeys.write', 'audit.export',
  'audit.read', 'audit.verify', 'config.read', 'config.write', 'delegation.impersonate', 'delegation.read', 'dlq.read',
  'dlq.write', 'edge.runtime.ingest', 'evals.datasets.delete', 'evals.datasets.read', 'evals.datasets.write',
  'evals.runs.delete', 'evals.runs.execute', 'evals.runs.read', 'governance.read', 'jobs.approve', 'jobs.read',
  'jobs.write', 'legalHold.read', 'legalHold.write', 'license.read', 'locks.read', 'mcp.read', 'mcp.verify',
  'memory.read', 'packs.install', 'packs.read', 'packs.uninstall', 'packs.verify', 'policy.read', 'policy.write',
  'pools.write', 'roles.read', 'roles.write', 'schemas.read', 'schemas.write', 'shadow.exception.high_risk',
  'telemetry.export', 'telemetry.read', 'telemetry.write', 'topics.read', 'topics.write', 'users.read', 'users.write',
  'workerCredentials.read', 'workerCredentials.write', 'workers.read', 'workers.write', 'workflows.read',
  'workflows.write',
] as const; // prettier-ignore

export type Permission = (typeof permissions)[number];

/** Roles that a route can require when RBAC is not entitled. See docs/reference/http.md#authorization. */
export type GateRole = 'admin' | 'operator' | 'viewer' | 'user' | 'runtime_collector';

/**
 * Who may call a route: `permission` decides when RBAC is entitled, `roles` otherwise ('any' = every authenticated
 * caller). `allTenants` marks probes and lists that are not bound to one tenant. See docs/reference/http.md#tenants.
 */
export interface Access {
  permission?: Permission;
  /** Permissions that are required in addition. */
  also?: readonly Permission[];
  roles: readonly GateRole[] | 'any';
}

/** Features of a license that a route can require. See docs/operations.md#license. */
export type EntitlementName =
  'agent_identity' | 'audit_export' | 'legal_hold' | 'rbac' | 'scim' | 'siem_export' | 'velocity_rules';

export interface Role {
  description: string;
  permissions: readonly Permission[];
  inherits: readonly string[];
}

/** `user` and `runtime_collector` are valid in `roles` but not listed by the roles API. */
export const builtInRoles: Readonly<Record<string, Role>> = {
  admin: { description: 'Everything', permissions: ['admin.*'], inherits: [] },
  operator: {
    description: 'Runs jobs, approves, manages packs and schemas',
    permissions: [
      'jobs.read', 'jobs.write', 'jobs.approve', 'workflows.read', 'workflows.write', 'workers.read', 'locks.read',
      'topics.read', 'packs.install', 'packs.uninstall', 'packs.read', 'schemas.read', 'schemas.write', 'policy.read',
      'governance.read', 'delegation.read', 'audit.read', 'config.read',
    ], // prettier-ignore
    inherits: ['viewer'],
  },
  viewer: {
    description: 'Reads',
    permissions: [
      'jobs.read', 'workflows.read', 'workers.read', 'locks.read', 'topics.read', 'config.read', 'audit.read',
      'schemas.read', 'policy.read', 'governance.read', 'delegation.read', 'evals.datasets.read', 'evals.runs.read',
    ], // prettier-ignore
    inherits: [],
  },
  user: {
    description: 'Submits and reads its own tenant’s jobs',
    permissions: ['jobs.read', 'jobs.write', 'workflows.read', 'topics.read', 'schemas.read'],
    inherits: [],
  },
  runtime_collector: { description: 'Sends runtime events', permissions: ['edge.runtime.ingest'], inherits: [] },
};

/** All permissions a role holds, inheritance flattened; an unknown role holds none. */
export function resolvePermissions(
  role: string,
  roles: Readonly<Record<string, Role>> = builtInRoles,
): ReadonlySet<Permission> {
  const held = new Set<Permission>();
  // Each role is visited once: the number of ways to a common ancestor grows exponentially.
  const visited = new Set([role]);
  for (const name of visited) {
    const own = Object.hasOwn(roles, name) ? roles[name] : undefined;
    for (const permission of own?.permissions ?? []) held.add(permission);
    for (const parent of own?.inherits ?? []) visited.add(parent);
  }
  return held;
}

/** Equality, `admin.*`, or a granted `<resource>.*`. */
export const grants = (held: ReadonlySet<string>, wanted: Permission): boolean =>
  held.has(wanted) || held.has('admin.*') || held.has(`${wanted.slice(0, wanted.indexOf('.'))}.*`);

/** Whether each of these permissions is granted. `admin.*` is granted by itself alone. */
export const grantsAll = (held: ReadonlySet<string>, wanted: Iterable<Permission>): boolean =>
  [...wanted].every((permission) => grants(held, permission));

/**
 * Whether a role permits everything that another one does. Callers may grant the roles that their own role covers, and a user
 * who changes to a role that covers the previous one loses no permission. Every role covers an unknown one.
 */
export const coversRole = (
  role: string,
  other: string,
  roles: Readonly<Record<string, Role>> = builtInRoles,
): boolean => grantsAll(resolvePermissions(role, roles), resolvePermissions(other, roles));
