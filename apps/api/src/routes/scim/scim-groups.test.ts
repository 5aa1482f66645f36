import { applyRoles } from '@svc/scim';
import { keys } from '@svc/store';
import { useApi } from '../../api.testing';
import { scimClient, scimEnv } from './scim.testing';

describe('SCIM groups', () => {
  const api = useApi({ env: scimEnv });
  beforeEach(() => api.license('enterprise'));
  const scim = () => scimClient(api);
  const user = async (userName: string) => String((await scim().post('/Users', { userName })).body['id']);
  const group = async (displayName: string, ...members: string[]) =>
    String((await scim().post('/Groups', { displayName, members: members.map((value) => ({ value })) })).body['id']);
  const patch = (id: string, ...Operations: object[]) =>
    scim().send('PATCH', `/Groups/${id}`, JSON.stringify({ Operations }));
  const role = async (id: string) => (await api.store.users.get(id))?.user.role;

  it('201, 200, 204: members have the role of the group, and get that of their other groups when they leave', async () => {
    const [ada, bob] = [await user('ada'), await user('bob')];
    const admins = await group('Admin', ada);
    const operators = await group('operator', ada, bob);
    expect([await role(ada), await role(bob)]).toEqual(['admin', 'operator']);

    expect(await patch(admins, { op: 'remove', path: `members[value eq "${ada}"]` })).toMatchObject({ status: 200 });
    expect(await role(ada)).toBe('operator');
    await patch(operators, { op: 'Remove', path: 'members', value: [{ value: bob }] });
    expect(await role(bob)).toBe('viewer');
    await patch(admins, { op: 'Add', path: 'members', value: [{ value: bob }] });
    expect(await role(bob)).toBe('admin');
    await scim().put(`/Groups/${admins}`, { displayName: 'Engineers', members: [{ value: bob }] });
    expect(await role(bob)).toBe('viewer');

    const shown = await scim().get(`/Groups/${operators}`);
    expect(shown.body).toMatchObject({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName: 'operator',
      members: [{ value: ada, $ref: `${api.url}/api/v1/scim/v2/Users/${ada}` }],
      meta: { resourceType: 'Group', version: 'W/"2"' },
    });
    expect((await scim().del(`/Groups/${operators}`)).status).toBe(204);
    expect([(await scim().get(`/Groups/${operators}`)).status, await role(ada)]).toEqual([404, 'viewer']);
    const { body } = await api.as('admin').get('/api/v1/audit/events?event_type=identity.change&limit=200');
    const actions = (body['items'] as { action: string }[]).map(({ action }) => action);
    expect(new Set(actions)).toEqual(
      new Set(['user.created', 'group.created', 'group.updated', 'group.deleted', 'user.role_changed']),
    );
  });

  it('membership does not enable a disabled user, and the role of a group takes precedence over one that is sent', async () => {
    const ada = await user('ada');
    await scim().put(`/Users/${ada}`, { userName: 'ada', active: false });
    await group('operator', ada);

    expect(await scim().get(`/Users/${ada}`)).toMatchObject({
      body: { active: false, roles: [{ value: 'operator' }] },
    });
    await scim().put(`/Users/${ada}`, { userName: 'ada', roles: [{ value: 'admin' }] });
    expect(await role(ada)).toBe('operator');
  });

  it('409, 400, 404: a name in use, members that do not exist, unknown groups', async () => {
    await group('Staff');

    expect(await scim().post('/Groups', { displayName: 'STAFF' })).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
    expect(await scim().post('/Groups', {})).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect(await scim().post('/Groups', { displayName: 'x', members: [{ value: 'no-one' }] })).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect((await scim().get('/Groups/none')).status).toBe(404);
    expect((await patch('none', { op: 'remove', path: 'members' })).status).toBe(404);
  }); // prettier-ignore

  it('200: groups are found by name and by member', async () => {
    const ada = await user('ada');
    await group('Staff', ada);
    await group('Board');
    const names = async (query: string) =>
      ((await scim().get(`/Groups?${query}`)).body['Resources'] as { displayName: string }[]).map(({ displayName }) => displayName);

    expect(await names('')).toEqual(['Board', 'Staff']);
    expect(await names('filter=displayName eq "staff"')).toEqual(['Staff']);
    expect(await names(`filter=members[value eq "${ada}"]`)).toEqual(['Staff']);
    expect((await scim().get('/Groups?excludedAttributes=members')).body['Resources']).not.toMatchObject([{}, { members: [{}] }]);
    const both = await scim().post('/.search', { filter: 'displayName pr or userName pr', sortBy: 'id' });
    expect(both.body).toMatchObject({ totalResults: 3 });
  }); // prettier-ignore

  it('a process that dies after the write of a group leaves no user with the wrong role', async () => {
    const ada = await user('ada');
    const before = await api.store.users.get(ada);
    const { scim: deps } = api.ctx;
    const now = new Date().toISOString();
    const record = { id: 'g-1', display_name: 'operator', members: [ada], created_at: now, updated_at: now };
    const act = { event_type: 'identity.change', action: 'group.created', severity: 'LOW' } as const;
    await deps.groups.write('acme', { id: 'g-1', group: record, before: undefined, roleChanges: [ada], act });
    expect(await role(ada)).toBe(before?.user.role);

    await applyRoles(deps, { requestId: '' });

    expect(await role(ada)).toBe('operator');
    expect(await api.store.redis.exists(keys.scimRoleChanges())).toBe(0);
  });

  it('of concurrent changes of members none is lost, and roles fit the groups in the end', async () => {
    const people = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(user));
    const operators = await group('operator');
    const admins = await group('admin');

    await Promise.all(
      people.flatMap((value, i) => [
        patch(operators, { op: 'add', path: 'members', value: [{ value }] }),
        ...(i % 2 ? [patch(admins, { op: 'add', path: 'members', value: [{ value }] })] : []),
      ]),
    );

    expect(await Promise.all(people.map(role))).toEqual(people.map((_, i) => (i % 2 ? 'admin' : 'operator')));
  });
});
