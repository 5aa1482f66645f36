import { builtInRoles, endpoints, type Access, type CallerPermissions, type Endpoint, type Role } from '@svc/contract';
import { sign } from 'jsonwebtoken';
import { roles as testRoles, useApi } from './api.testing';
import { caller, type Calls } from './caller.testing';
import { identities, keySession } from './identities.testing';
import { walked } from './tenant-requests.testing';

jest.setTimeout(180_000);

const tenants = ['acme', 'globex'] as const;
const secret = 'secret-of-the-walk-0000000000000001';
/** Stored by the test: it has what two others have, and a permission of its own. */
const lead: Role = { description: '', permissions: ['apiKeys.read', 'roles.read'], inherits: ['clerk', 'user'] };
const roles: Readonly<Record<string, Role>> = { ...testRoles, lead };
const roleNames = [...Object.keys(roles), 'guest'];
const scopeSets: readonly (readonly string[])[] = [
  ...[[], ['read'], ['viewer'], ['write'], ['operator'], ['admin'], ['jobs:read'], ['jobs:write'], ['jobs:*']],
  ...[
    ['policy:*'],
    ['policy:read', 'audit:read'],
    ['schemas:write', 'topics:read'],
    ['workflows:*', 'approvals:write'],
  ],
  ...[
    ['delegations:read', 'packs:*'],
    ['read', 'topics:write'],
  ],
];
const keyFor = (tenant: string, role: string) => ({ key: `walk-${tenant}-${role}-0000000001`, tenant, role });
const keys = tenants.flatMap((tenant) => roleNames.map((role) => keyFor(tenant, role)));

interface Walker {
  name: string;
  role: string;
  scopes: readonly string[];
  calls: Calls;
  /** Its walk leaves out the end of the session. */
  isSession?: true;
}
type Outcome = 'allowed' | 'access_denied' | 'key_scope_insufficient' | 'tier_limit_exceeded';

/** The resource of a route in scopes: the first part of its path, with the exceptions of the contract. */
function resourceFor(path: string): string {
  const [, first = ''] = /^\/api\/v1\/([^/]+)/.exec(path) ?? [];
  const others: Readonly<Record<string, string>> = {
    ...{ 'workflow-runs': 'workflows', traces: 'jobs', marketplace: 'packs' },
  };
  return others[first] ?? first;
}

function permissionsFor(role: string): Set<string> {
  const { permissions, inherits } = roles[role] ?? { permissions: [], inherits: [] };
  return new Set([...permissions, ...inherits.flatMap((parent) => [...permissionsFor(parent)])]);
}

function expectedFor({ role, scopes }: Walker, { method, path, access, entitledBy }: Endpoint, rbac: boolean): Outcome {
  const { permission, also = [], roles: named } = access as Access; // the list contains no public routes
  const act = method === 'get' ? 'read' : 'write';
  const wide = act === 'read' ? ['read', 'viewer', 'write', 'operator', 'admin'] : ['write', 'operator', 'admin'];
  const isNamed = [act, '*'].some((end) => scopes.includes(`${resourceFor(path)}:${end}`));
  if (scopes.length > 0 && !isNamed && !scopes.some((scope) => wide.includes(scope))) return 'key_scope_insufficient';
  const held = permissionsFor(role);
  const holds = (wanted: string) => held.has('admin.*') || held.has(wanted);
  const isAllowed =
    permission && (rbac || isNamed)
      ? (isNamed || holds(permission)) && also.every(holds)
      : named === 'any' || named.some((one) => one === role);
  if (!isAllowed) return 'access_denied';
  // The walks are of the licenses with everything and with nothing.
  return entitledBy && !rbac ? 'tier_limit_exceeded' : 'allowed';
}

describe('every role with every kind of credential, of two tenants, on every route', () => {
  const api = useApi({
    env: { SVC_API_KEYS: JSON.stringify([...Object.values(identities), ...keys]), SVC_JWT_HMAC_SECRET: secret },
    mount: walked.mount,
  });
  const guarded: readonly Endpoint[] = endpoints.filter(({ access }) => access !== 'public');
  const withKey = (key: string) => caller(api.url, { 'X-API-Key': key });

  const byKey = (): Walker[] =>
    keys.map(({ key, tenant, role }) => ({ name: `key ${tenant} ${role}`, role, scopes: [], calls: withKey(key) }));

  const byToken = (): Walker[] =>
    keys.map(({ tenant, role }) => {
      const token = sign({ iss: 'svc-dev', sub: role, role, tenant }, secret, { expiresIn: '1h' });
      return {
        ...{ name: `token ${tenant} ${role}`, role, scopes: [] },
        calls: caller(api.url, { Authorization: `Bearer ${token}` }),
      };
    });

  const bySession = (): Promise<Walker[]> =>
    Promise.all(
      keys.map(async ({ key, tenant, role }) => {
        const { token } = await api.sessions.create(keySession(key, tenant));
        return { name: `session ${tenant} ${role}`, role, scopes: [], calls: withKey(token), isSession: true as const };
      }),
    );

  const byManagedKey = (): Promise<Walker[]> =>
    Promise.all(
      tenants.flatMap((tenant) =>
        scopeSets.map(async (scopes) => {
          const maker = withKey(keyFor(tenant, 'admin').key);
          const { body } = await maker.post('/api/v1/auth/keys', { name: 'walk', scopes });
          const role = scopes.includes('admin') ? 'admin' : scopes.some((one) => /^write$|^operator$|:(?:write|\*)$/.test(one)) ? 'operator' : 'viewer'; // prettier-ignore
          return {
            name: `managed ${tenant} ${scopes.join(' ')}`,
            role,
            scopes,
            calls: withKey(String(body['secret'])),
          };
        }),
      ),
    );

  /** The routes whose outcome differs from the table, or from what the gateway lists for the caller. */
  async function walk(walker: Walker, rbac: boolean): Promise<string[]> {
    const list = await walker.calls.get('/api/v1/auth/permissions');
    const { routes = [] } = list.body as unknown as Partial<CallerPermissions>;
    const differences = await Promise.all(
      guarded.filter(walker.isSession ? ({ id }) => id !== 'auth.logout' : () => true).map(async (endpoint) => {
        // Without a query this route reads scope system, which requires more.
        const query = endpoint.id === 'config.get' ? '?scope=org' : '';
        const target = endpoint.path.replace(/:\w+/g, 'nothing-of-that-name') + query;
        const { status, body } = await walker.calls.send(endpoint.method, target);
        const code = String((body as { code?: unknown } | undefined)?.code);
        const found =
          status === 403 && /^(?:access_denied|key_scope_insufficient|tier_limit_exceeded)$/.test(code)
            ? code
            : 'allowed';
        const expected = expectedFor(walker, endpoint, rbac);
        const listed = routes.find(({ id }) => id === endpoint.id);
        const isListed = !listed || listed.allowed === (found === 'allowed');
        const isWrong = found !== expected || !isListed || [401, 429].includes(status) || status >= 500;
        return isWrong ? [`${walker.name}: ${endpoint.id} ${status} ${found}, not ${expected}`] : [];
      }),
    );
    // Keys for some resources only cannot read the list.
    return [
      ...(list.status === 200 || walker.scopes.length > 0 ? [] : [`${walker.name}: no list`]),
      ...differences.flat(),
    ];
  }

  async function walkAll(walkers: readonly Walker[], rbac: boolean): Promise<string[]> {
    const found: string[] = [];
    for (const walker of walkers) found.push(...(await walk(walker, rbac)));
    return found;
  }

  it('with RBAC the permission decides, with what roles inherit', async () => {
    api.license('enterprise');
    await api.store.roles.write(1, new Map([['lead', { ...lead, created_at: '', updated_at: '' }]]));
    await api.ctx.access.roleBook.sync();

    // Sessions first: the walk of a key ends those of the key.
    const walkers = [...(await bySession()), ...byKey(), ...byToken(), ...(await byManagedKey())];
    expect(walkers.length).toBeGreaterThan(2 * 3 * Object.keys(builtInRoles).length);
    expect(await walkAll(walkers, true)).toEqual([]);
  });

  it('without RBAC the roles of the route decide', async () => {
    const own = (walkers: Walker[]) => walkers.filter(({ name }) => name.includes('acme'));

    expect(await walkAll([...own(byKey()), ...own(byToken()), ...own(await byManagedKey())], false)).toEqual([]);
  });
});
