import { endpoints, type CallerPermissions } from '@svc/contract';
import { useApi } from '../../api.testing';
import { caller } from '../../caller.testing';
import type { Who } from '../../identities.testing';

const path = '/api/v1/auth/permissions';

describe('GET /api/v1/auth/permissions', () => {
  const api = useApi();
  const read = async (who: Who) => (await api.as(who).get(path)).body as unknown as CallerPermissions;
  const find = ({ routes }: CallerPermissions, id: string) => routes.find((route) => route.id === id);

  it('200: every route of the gateway, with the reason why it is refused', async () => {
    const found = await read('viewer');

    expect(found).toMatchObject({ role: 'viewer', rbac: false });
    expect(found.routes.map(({ id }) => id)).toEqual(endpoints.map(({ id }) => id));
    expect(find(found, 'jobs.list')).toEqual({ id: 'jobs.list', method: 'GET', path: '/api/v1/jobs', allowed: true });
    expect(find(found, 'jobs.submit')).toMatchObject({
      ...{ allowed: false, reason: 'role_not_permitted', required: ['admin', 'operator', 'user'] },
    });
    expect(find(await read('admin'), 'roles.put')).toMatchObject({
      ...{ allowed: false, reason: 'entitlement_missing', required: ['rbac'] },
    });
  });

  it('200: with RBAC the missing permission, and what the role inherits', async () => {
    api.license('enterprise');
    const found = await read('operator');

    expect(found.permissions).toEqual(expect.arrayContaining(['jobs.write', 'evals.runs.read']));
    expect(find(found, 'dlq.list')).toMatchObject({
      ...{ allowed: false, reason: 'permission_missing', required: ['dlq.read'] },
    });
  });

  it('200: the missing scope of a key', async () => {
    const { body } = await api.as('admin').post('/api/v1/auth/keys', { name: 'ci', scopes: ['read', 'policy:write'] });
    const key = caller(api.url, { 'X-API-Key': String(body['secret']) });
    const found = (await key.get(path)).body as unknown as CallerPermissions;

    expect(found).toMatchObject({ role: 'operator', scopes: ['read', 'policy:write'] });
    expect(find(found, 'policy.evaluate')).toMatchObject({ allowed: true });
    expect(find(found, 'jobs.submit')).toMatchObject({ reason: 'key_scope_insufficient', required: ['jobs:write'] });
  });
});
