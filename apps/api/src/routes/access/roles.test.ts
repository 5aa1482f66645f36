import { RoleBook } from '@svc/access';
import { builtInRoles } from '@svc/contract';
import { systemClock } from '@svc/runtime';
import { eventually } from '@svc/testing';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import type { Who } from '../../identities.testing';

const path = '/api/v1/auth/roles';

describe('roles', () => {
  const api = useApi();
  beforeEach(() => api.license('enterprise'));
  const put = (name: string, body: object, who: Who = 'admin') => api.as(who).put(`${path}/${name}`, body);
  const detail = async (name: string) => (await api.as('admin').get(`${path}/${name}`)).body;
  const listed = async () => (await api.as('admin').get(path)).body as { roles: { name: string }[]; entitled: boolean };
  const names = async () => (await listed()).roles.map(({ name }) => name);
  const invalid = { status: 400, code: 'RBAC_PERMISSION_INVALID' };

  it('200: the built-in roles exist from the start', async () => {
    const { roles, entitled } = await listed();

    expect(entitled).toBe(true);
    expect(roles).toMatchObject(
      ['admin', 'operator', 'viewer'].map((name) => ({ name, built_in: true, permissions: builtInRoles[name]?.permissions })),
    );
  });

  it('200: without RBAC only the built-in roles are listed, and none can be written', async () => {
    await put('auditor', { permissions: ['audit.read'] });
    api.license('community');

    expect(await listed()).toMatchObject({ entitled: false, roles: [{ name: 'admin' }, { name: 'operator' }, { name: 'viewer' }] });
    for (const answer of [await put('x1', {}), await api.as('admin').del(`${path}/auditor`)]) {
      expect(answer).toMatchObject({ status: 403, body: { code: 'tier_limit_exceeded', limit: 'rbac' } });
    }
  });

  it('200: a role is created, changed, read with what it inherits, and deleted', async () => {
    const created = await put('%20Auditor%20', { description: 'reads', permissions: ['audit.export'], inherits: ['Viewer'] });
    expect(created).toMatchObject({ status: 200, body: { role: { name: 'auditor', built_in: false, inherits: ['viewer'] } } });

    const changed = await put('auditor', { permissions: ['audit.verify', 'audit.verify'] });
    expect(changed.body['role']).toMatchObject({ description: 'reads', permissions: ['audit.verify'], inherits: ['viewer'] });
    expect(await detail('auditor')).toMatchObject({
      role: changed.body['role'],
      resolved_permissions: ['audit.verify', ...(builtInRoles['viewer']?.permissions ?? [])].sort(),
    });
    expect((await api.as('admin').del(`${path}/auditor`)).body).toEqual({ deleted: true, name: 'auditor' });
    expect(statusAndCode(await api.as('admin').get(`${path}/auditor`))).toEqual({ status: 404, code: 'RBAC_ROLE_NOT_FOUND' });
  });

  it('a change is in effect at once, and at another gateway after it has read the roles', async () => {
    const other = new RoleBook({ roles: api.store.roles, clock: systemClock(), onChanged: () => undefined });
    await other.sync();
    await put('clerk', { permissions: ['locks.read'] });

    expect((await api.as('clerk').get('/api/v1/locks?resource=x')).status).toBe(404);
    expect((await api.as('clerk').get('/api/v1/dlq')).status).toBe(403);
    await other.sync();
    expect(other.all()['clerk']?.permissions).toEqual(['locks.read']);
    await put('viewer', { permissions: [] });
    expect((await api.as('viewer').get('/api/v1/jobs')).status).toBe(403);
    await eventually(async () => expect((await api.as('operator').get('/api/v1/policy/rules')).status).toBe(200));
  });

  it('each change is in the audit chain', async () => {
    await put('auditor', {});
    await api.as('admin').del(`${path}/auditor`);

    const { body } = await api.as('admin').get('/api/v1/audit/events');
    expect((body['items'] as { event_type: string }[]).filter(({ event_type }) => event_type.startsWith('auth.'))).toMatchObject([
      { event_type: 'auth.role_deleted', severity: 'HIGH', extra: { resource_id: 'auditor' } },
      { event_type: 'auth.role_upserted', severity: 'HIGH', extra: { resource_id: 'auditor' } },
    ]);
  });

  it.each([
    ['a bad name', 'x', {}, { status: 400, code: 'RBAC_REQUEST_INVALID' }],
    ['a reserved name', 'secops', {}, { status: 400, code: 'RBAC_REQUEST_INVALID' }],
    ['an unknown permission', 'r1', { permissions: ['jobs.everything'] }, invalid],
    ['a wildcard', 'r1', { permissions: ['jobs.*'] }, invalid],
    ['admin.* for another role', 'r1', { permissions: ['admin.*'] }, invalid],
    ['admin without admin.*', 'admin', { permissions: ['jobs.read'] }, invalid],
    ['an unknown parent', 'r1', { inherits: ['constructor'] }, invalid],
    ['itself as parent', 'r1', { inherits: ['r1'] }, invalid],
    ['more parents than it may have', 'r1', { inherits: Array.from({ length: 33 }, (_, i) => `p${i}`) }, { status: 400, code: 'RBAC_REQUEST_INVALID' }],
    ['a parent of a built-in role', 'viewer', { inherits: ['operator'] }, { status: 409, code: 'RBAC_ROLE_PROTECTED' }],
  ])('refused: %s', async (_, name, body, answer) => {
    expect(statusAndCode(await put(name, body))).toEqual(answer);
    expect(await names()).toEqual(['admin', 'operator', 'viewer']);
  });

  it('400: roles that would inherit from each other', async () => {
    await put('r1', {});
    await put('r2', { inherits: ['r1'] });
    await put('r3', { inherits: ['r2'] });

    expect(statusAndCode(await put('r1', { inherits: ['r3'] }))).toEqual(invalid);
  });

  it('a role with exponentially many ways to an ancestor is resolved in time', async () => {
    await put('a0', { permissions: ['dlq.read'] });
    await put('b0', {});
    for (let i = 1; i < 40; i++) {
      for (const side of ['a', 'b']) await put(`${side}${i}`, { inherits: [`a${i - 1}`, `b${i - 1}`] });
    }

    expect(await detail('a39')).toMatchObject({ resolved_permissions: ['dlq.read'] });
  });

  it('400, 409: built-in roles and roles in use cannot be deleted', async () => {
    await put('r1', {});
    await put('r2', { inherits: ['r1'] });

    expect(statusAndCode(await api.as('admin').del(`${path}/viewer`))).toEqual({ status: 400, code: 'RBAC_ROLE_PROTECTED' });
    expect(await api.as('admin').del(`${path}/r1`)).toMatchObject({
      status: 409,
      body: { error: 'RBAC_ROLE_IN_USE', code: 'RBAC_ROLE_IN_USE', referencing_roles: ['r2'] },
    });
    const times = { created_at: '', updated_at: '' };
    const user = { id: 'u1', tenant: 'globex', username: 'ann', role: 'r2', source: 'scim', ...times } as const;
    const act = { event_type: 'identity.change', action: 'a', severity: 'INFO' } as const;
    await api.store.users.write({ user, expected: 0, act });
    expect(await api.as('admin').del(`${path}/r2`)).toMatchObject({
      status: 409,
      body: { message: '1 users have the role', referencing_roles: [] },
    });
    await api.store.users.write({ user: { ...user, role: 'viewer' }, expected: 1, act });
    expect(await api.as('admin').del(`${path}/r2`)).toMatchObject({ status: 200, body: { deleted: true } });
  });

  it('403: roles belong to the installation, and tenants may only read them', async () => {
    const denied = { status: 403, code: 'tenant_access_denied' };

    expect(statusAndCode(await put('r1', {}, 'other'))).toEqual(denied);
    expect(statusAndCode(await api.as('other').del(`${path}/viewer`))).toEqual(denied);
    expect((await api.as('other').get(path)).status).toBe(200);
  });

  it('403: a caller can neither create nor extend a role beyond what it holds', async () => {
    await put('clerk', { permissions: ['roles.write', 'jobs.read'] });
    const denied = { status: 403, code: 'grant_exceeds_caller' };

    expect((await put('r1', { permissions: ['jobs.read'] }, 'clerk')).status).toBe(200);
    expect(statusAndCode(await put('r1', { permissions: ['jobs.write'] }, 'clerk'))).toEqual(denied);
    expect(statusAndCode(await put('r2', { inherits: ['operator'] }, 'clerk'))).toEqual(denied);
    expect(statusAndCode(await put('admin', { description: 'x' }, 'clerk'))).toEqual(denied);
    expect(statusAndCode(await put('clerk', { permissions: ['roles.write', 'users.write'] }, 'clerk'))).toEqual(denied);
  });

  it('two writers lose no change, and never create a cycle', async () => {
    await put('r1', {});
    await put('r2', {});

    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all([put('r1', { inherits: ['r2'] }), put('r2', { inherits: ['r1'] })]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      await Promise.all([put('r1', { inherits: [] }), put('r2', { inherits: [] })]);
      expect(await detail('r1')).toMatchObject({ role: { inherits: [] } });
      expect(await detail('r2')).toMatchObject({ role: { inherits: [] } });
    }
  });
}); // prettier-ignore
