/** Scopes that stand for a role and match every resource. See docs/reference/http.md#authorization. */
const roleScopes = {
  read: ['read', 'viewer', 'write', 'operator', 'admin'],
  write: ['write', 'operator', 'admin'],
} as const;

/** Path segment behind /api/v1/ to scope resource; `auth/keys` is the one of two segments. */
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

const resourceOf = (path: string): string | undefined => {
  const [first = '', second = ''] = path.replace(/^\/api\/v1\//, '').split('/', 2);
  return resources[`${first}/${second}`] ?? (Object.hasOwn(resources, first) ? resources[first] : undefined);
};

/**
 * The scope that a key lacks for a route, or undefined when its scopes allow it. A key without scopes is not bound by them.
 *
 * @param path as the route declares it, never as a request spells it: the router decodes what a request sends
 * @returns a scope that would suffice; empty for a path that belongs to no resource
 */
export function missingScope(scopes: readonly string[], method: string, path: string): string | undefined {
  if (scopes.length === 0) return undefined;
  const act = ['GET', 'HEAD', 'OPTIONS'].includes(method.toUpperCase()) ? 'read' : 'write';
  const resource = resourceOf(path);
  const roles: readonly string[] = roleScopes[act];
  if (scopes.some((scope) => roles.includes(scope))) return undefined;
  if (!resource) return '';
  return scopes.some((scope) => scope === `${resource}:${act}` || scope === `${resource}:*`)
    ? undefined
    : `${resource}:${act}`;
}
