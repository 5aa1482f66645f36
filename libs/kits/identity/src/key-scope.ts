import { scopedResources } from '@svc/contract';

/** Scopes that name a role and match every resource. See docs/reference/access.md#scopes. */
const matchingRoles = {
  read: ['read', 'viewer', 'write', 'operator', 'admin'],
  write: ['write', 'operator', 'admin'],
} as const;

/** Scope resource by the path segment after /api/v1/; only `auth/keys` has two segments. */
const resources: Readonly<Record<string, string>> = {
  'auth/keys': 'apikeys',
  'workflow-runs': 'workflows',
  workflows: 'workflows',
  jobs: 'jobs',
  traces: 'jobs',
  audit: 'audit',
  approvals: 'approvals',
  agents: 'agents',
  delegations: 'delegations',
  packs: 'packs',
  marketplace: 'packs',
  policy: 'policy',
  topics: 'topics',
  schemas: 'schemas',
  mcp: 'mcp',
  copilot: 'copilot',
  config: 'config',
  dlq: 'dlq',
  workers: 'workers',
  pools: 'workers',
  memory: 'memory',
  artifacts: 'artifacts',
  evals: 'evals',
  governance: 'governance',
  edge: 'edge',
};

const findResource = (path: string): string | undefined => {
  const [first = '', second = ''] = path.replace(/^\/api\/v1\//, '').split('/', 2);
  return resources[`${first}/${second}`] ?? (Object.hasOwn(resources, first) ? resources[first] : undefined);
};

const getAct = (method: string) => (['GET', 'HEAD', 'OPTIONS'].includes(method.toUpperCase()) ? 'read' : 'write');

/**
 * The scope that a key lacks for a route, or undefined when its scopes allow it. A key without scopes is unrestricted.
 *
 * @param path as declared by the route, never as sent: the router decodes the path of a request
 * @returns a sufficient scope; empty for a path that belongs to no resource
 */
export function missingScope(scopes: readonly string[], method: string, path: string): string | undefined {
  if (scopes.length === 0) return undefined;
  const act = getAct(method);
  const roles: readonly string[] = matchingRoles[act];
  if (scopes.some((scope) => roles.includes(scope)) || hasResourceScope(scopes, method, path)) return undefined;
  const resource = findResource(path);
  return resource ? `${resource}:${act}` : '';
}

/**
 * Whether a scope names the resource of a route, which then needs no permission.
 *
 * @param path as declared by the route
 */
export function hasResourceScope(scopes: readonly string[], method: string, path: string): boolean {
  const resource = findResource(path);
  return (
    resource !== undefined && [`${resource}:${getAct(method)}`, `${resource}:*`].some((one) => scopes.includes(one))
  );
}

/** The role of a managed key. */
export function getScopedRole(scopes: readonly string[]): 'admin' | 'operator' | 'viewer' {
  if (scopes.includes('admin')) return 'admin';
  const writes = [
    'write',
    'operator',
    ...scopedResources.flatMap((resource) => [`${resource}:write`, `${resource}:*`]),
  ];
  return scopes.some((scope) => writes.includes(scope)) ? 'operator' : 'viewer';
}
