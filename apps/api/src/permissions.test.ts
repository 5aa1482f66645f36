import { endpoints, grants, resolvePermissions, type Access, type Endpoint } from '@svc/contract';
import { roles, useApi } from './api.testing';
import { identities, type Who } from './identities.testing';

describe('permissions', () => {
  const api = useApi();
  const guarded: readonly Endpoint[] = endpoints.filter(({ access }) => access !== 'public');
  const callers: readonly Who[] = ['admin', 'operator', 'user', 'viewer', 'clerk'];

  const refused = async (who: Who, endpoint: Endpoint) => {
    // Without a query this route reads scope system, which requires more.
    const query = endpoint.id === 'config.get' ? '?scope=org' : '';
    const target = endpoint.path.replace(/:\w+/, 'nothing-of-that-name') + query;
    const { status, body } = await api.as(who).send(endpoint.method, target);
    return status === 403 && body['code'] === 'access_denied';
  };
  const refusedAll = async (endpoint: Endpoint) => {
    const answers = await Promise.all(callers.map(async (who) => [who, await refused(who, endpoint)] as const));
    return answers.filter(([, no]) => no).map(([who]) => who);
  };

  it.each(guarded)('$method $path: without RBAC the roles of the route decide', async (endpoint: Endpoint) => {
    const { roles: named } = endpoint.access as Access; // the list contains no public routes
    const outside = callers.filter((who) => named !== 'any' && !named.some((role) => role === identities[who].role));

    expect(await refusedAll(endpoint)).toEqual(outside);
  });

  it.each(guarded)('$method $path: with RBAC the permission decides, also for custom roles', async (endpoint: Endpoint) => {
    api.license('enterprise');
    const { permission, roles: named } = endpoint.access as Access;
    // Where the contract names no permission, the roles decide with RBAC too.
    const holds = (who: Who) =>
      permission
        ? grants(resolvePermissions(identities[who].role, roles), permission)
        : named === 'any' || named.some((role) => role === identities[who].role);

    expect(await refusedAll(endpoint)).toEqual(callers.filter((who) => !holds(who)));
  });

  it('403: the response names neither role nor permission', async () => {
    const { body } = await api.as('viewer').get('/api/v1/dlq');

    expect(body).toEqual({ error: 'access denied', code: 'access_denied', status: 403 });
  });

  it('a header may lower the role of a key, which lowers its permissions', async () => {
    const headers = { 'X-Principal-Role': 'viewer' };

    expect((await api.as('operator').post('/api/v1/jobs', { prompt: 'x' }, headers)).status).toBe(403);
    expect((await api.as('operator').post('/api/v1/jobs', { prompt: 'x' })).status).toBe(200);
  });
}); // prettier-ignore
