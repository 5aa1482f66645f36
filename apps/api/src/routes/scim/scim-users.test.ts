import { useApi } from '../../api.testing';
import type { HttpAnswer } from '../../caller.testing';
import { scimClient, scimEnv } from './scim.testing';

const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error';
const fault = ({ status, body }: HttpAnswer) => ({ status, type: body['scimType'] });

describe('SCIM users where deleted users are readable', () => {
  const ended: string[] = [];
  const api = useApi({
    env: { ...scimEnv, SVC_SCIM_DELETED_USERS: 'readable' },
    context: (ctx) => ({ ...ctx, scim: { ...ctx.scim, onSessionsEnded: (id) => void ended.push(id) } }),
  }); // prettier-ignore
  beforeEach(() => {
    ended.length = 0;
    api.license('enterprise');
  });
  const scim = () => scimClient(api);
  const create = (body: object) => scim().post('/Users', body);
  const created = async (body: object) => String((await create(body)).body['id']);
  const patch = (id: string, ...Operations: object[]) =>
    scim().send('PATCH', `/Users/${id}`, JSON.stringify({ schemas: [patchSchema], Operations }));
  const listed = async (query: string) => {
    const { body } = await scim().get(`/Users?${query}`);
    return ((body['Resources'] ?? []) as { userName: string }[]).map(({ userName }) => userName);
  };

  it('201, 200, 204: a user is created, read, replaced and disabled, and each change is recorded', async () => {
    const answer = await create({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', 'urn:example:unknown'],
      userName: 'Ada',
      externalId: 'e-1',
      name: { givenName: 'Ada', familyName: 'Byron' },
      emails: [{ value: 'ada@example.com', type: 'work', primary: true }],
      title: 'Countess',
    });
    const id = String(answer.body['id']);
    const location = `${api.url}/api/v1/scim/v2/Users/${id}`;

    expect(answer.status).toBe(201);
    expect(answer.headers).toMatchObject({ 'content-type': 'application/scim+json', location, etag: 'W/"1"' });
    expect(answer.body).toEqual({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      id,
      externalId: 'e-1',
      userName: 'Ada',
      name: { formatted: 'Ada Byron', familyName: 'Byron', givenName: 'Ada' },
      emails: [{ value: 'ada@example.com', type: 'work', primary: true }],
      active: true,
      roles: [{ value: 'viewer', display: 'viewer' }],
      meta: {
        resourceType: 'User',
        created: expect.any(String) as string,
        lastModified: expect.any(String) as string,
        location,
        version: 'W/"1"',
      },
    });
    expect((await scim().get(`/Users/${id}`)).body).toEqual(answer.body);

    const replaced = await scim().put(`/Users/${id}`, { userName: 'ada', roles: [{ value: 'operator' }] });
    expect(replaced).toMatchObject({ status: 200, body: { userName: 'ada', active: true, roles: [{ value: 'operator' }] } });
    expect(replaced.body).not.toHaveProperty('emails');
    expect((await scim().del(`/Users/${id}`)).status).toBe(204);
    expect(await scim().get(`/Users/${id}`)).toMatchObject({ status: 200, body: { active: false } });
    expect((await scim().del(`/Users/${id}`)).status).toBe(204);

    const { body } = await api.as('admin').get('/api/v1/audit/events?event_type=identity.change');
    expect(body['items']).toMatchObject([
      { action: 'user.deleted', identity: 'scim', severity: 'HIGH', extra: { resource_id: id } },
      { action: 'user.updated', extra: { role: 'operator', role_before: 'viewer' } },
      { action: 'user.created', extra: { resource_id: id } },
    ]);
  }); // prettier-ignore

  it('the sessions of a user end with the account, and with a role that permits less', async () => {
    const id = await created({ userName: 'ada', roles: [{ value: 'operator' }] });
    const generation = async () => (await api.store.users.get(id))?.generation;

    await patch(id, { op: 'replace', path: 'roles', value: [{ value: 'admin' }] });
    expect([ended, await generation()]).toEqual([[], 0]);
    await patch(id, { op: 'replace', path: 'roles', value: [{ value: 'viewer' }] });
    expect([ended, await generation()]).toEqual([[id], 1]);
    await patch(id, { op: 'Replace', path: 'active', value: 'False' });

    expect([ended, await generation()]).toEqual([[id, id], 2]);
    await patch(id, { op: 'replace', value: { active: true } });
    expect(await scim().get(`/Users/${id}`)).toMatchObject({ body: { active: true } });
  });

  it('409: a name or address in use, also by a user of another source, who is not visible', async () => {
    const now = new Date().toISOString();
    const local = { id: 'local-1', tenant: 'acme', username: 'Root', role: 'admin', source: 'user' as const };
    const act = { event_type: 'identity.change', action: 'x', severity: 'LOW' } as const;
    await api.store.users.write({ user: { ...local, created_at: now, updated_at: now }, expected: 0, act });
    await create({ userName: 'ada', emails: [{ value: 'a@example.com' }] });

    for (const body of [{ userName: 'ADA' }, { userName: 'root' }, { userName: 'A@example.com' }, { userName: 'eve', emails: [{ value: 'A@example.com' }] }]) {
      const answer = await create(body);
      expect(answer).toMatchObject({ status: 409, body: { schemas: [errorSchema], status: '409', scimType: 'uniqueness' } });
    }
    for (const send of [scim().get('/Users/local-1'), scim().put('/Users/local-1', { userName: 'x' }), scim().del('/Users/local-1'), patch('local-1', { op: 'replace', path: 'active', value: false })])
      expect(await send).toMatchObject({ status: 404, body: { schemas: [errorSchema] } });
    expect(await listed('')).toEqual(['ada']);
  }); // prettier-ignore

  it('400: what the protocol does not permit, with its keyword', async () => {
    const id = await created({ userName: 'ada', emails: [{ value: 'a@example.com' }] });
    const answers = await Promise.all([
      create({}),
      create({ userName: 5 }),
      create({ userName: 'x', roles: [{ value: 'emperor' }] }),
      create({ userName: 'x', emails: [{ value: 'no address' }] }),
      create({ userName: 'a\u0000b' }),
      patch(id, { op: 'replace', path: 'shoeSize', value: 5 }),
      patch(id, { op: 'increase', path: 'active' }),
      patch(id, { op: 'replace', path: 'id', value: 'x' }),
      patch(id, { op: 'remove', path: 'userName' }),
      patch(id, { op: 'remove' }),
      patch(id),
      scim().get('/Users?filter=shoeSize%20eq%20%229%22'),
      scim().get('/Users?filter=userName%20is%20%22a%22'),
      scim().get('/Users?attributes=id&excludedAttributes=name'),
      scim().get('/Users?count=many'),
      scim().send('POST', '/Users', '{"userName":'),
    ]);

    const types = ['invalidValue', 'invalidValue', 'invalidValue', 'invalidValue', 'invalidValue', 'invalidPath', 'invalidSyntax', 'mutability', 'mutability', 'noTarget', 'invalidSyntax', 'invalidFilter', 'invalidFilter', 'invalidValue', 'invalidValue', 'invalidSyntax'];
    expect(answers.map(fault)).toEqual(types.map((type) => ({ status: 400, type })));
  }); // prettier-ignore

  it('200: lists are filtered, sorted and paged, with the attributes that were asked for', async () => {
    for (const userName of ['cleo', 'Ada', 'bob']) {
      await create({ userName, displayName: `${userName} X`, active: userName !== 'bob' });
    }

    expect(await listed('')).toEqual(['Ada', 'bob', 'cleo']);
    expect(await listed('sortBy=userName&sortOrder=descending')).toEqual(['cleo', 'bob', 'Ada']);
    expect(await listed('filter=userName eq "ADA"')).toEqual(['Ada']);
    expect(await listed('filter=displayName co "o X" and active eq true')).toEqual(['cleo']);
    expect(await listed('filter=not (userName sw "a") and meta.created pr')).toEqual(['bob', 'cleo']);
    const page = (await scim().get('/Users?startIndex=2&count=1&attributes=userName,meta.resourceType')).body;
    expect(page).toMatchObject({ totalResults: 3, startIndex: 2, itemsPerPage: 1 });
    expect(page['Resources']).toEqual([
      { schemas: expect.any(Array) as string[], id: expect.any(String) as string, userName: 'bob', meta: { resourceType: 'User' } },
    ]);
    const counted = (await scim().get('/Users?count=0')).body;
    expect(counted).toMatchObject({ totalResults: 3, itemsPerPage: 0, Resources: [] });
    const found = await scim().post('/Users/.search', { filter: 'userName ew "o"', count: 10, attributes: ['displayName'] });
    expect(found).toMatchObject({ status: 200, body: { totalResults: 1, Resources: [{ displayName: 'cleo X' }] } });
  }); // prettier-ignore

  it('304, 412: entity tags', async () => {
    const id = await created({ userName: 'ada' });
    const path = `/Users/${id}`;

    expect((await scim().get(path, { 'If-None-Match': 'W/"1"' })).status).toBe(304);
    expect((await scim().put(path, { userName: 'eve' }, { 'If-Match': 'W/"7"' })).status).toBe(412);
    expect((await scim().del(path, { 'If-Match': '"7"' })).status).toBe(412);
    expect((await scim().put(path, { userName: 'eve' }, { 'If-Match': 'W/"1"' })).headers).toMatchObject({ etag: 'W/"2"' });
    expect((await scim().get(path, { 'If-None-Match': 'W/"1"' })).body).toMatchObject({ userName: 'eve' });
  }); // prettier-ignore

  it('of many concurrent changes none is lost', async () => {
    const id = await created({ userName: 'ada' });
    const fields = ['displayName', 'name.givenName', 'name.familyName', 'externalId'];

    const answers = await Promise.all(fields.map((path) => patch(id, { op: 'add', path, value: 'v' })));

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await scim().get(`/Users/${id}`)).body).toMatchObject({
      displayName: 'v',
      externalId: 'v',
      name: { givenName: 'v', familyName: 'v' },
    });
  });
});

describe('SCIM users where deleted users are hidden', () => {
  const api = useApi({ env: scimEnv });
  beforeEach(() => api.license('enterprise'));

  it('404 after a DELETE, and the name can be used again, while a disabled user stays visible', async () => {
    const scim = scimClient(api);
    const id = String((await scim.post('/Users', { userName: 'ada', externalId: 'e-1' })).body['id']);
    await scim.put(`/Users/${id}`, { userName: 'ada', active: false });
    expect(await scim.get(`/Users/${id}`)).toMatchObject({ status: 200, body: { active: false } });

    expect((await scim.del(`/Users/${id}`)).status).toBe(204);

    expect([(await scim.get(`/Users/${id}`)).status, (await scim.del(`/Users/${id}`)).status]).toEqual([404, 404]);
    expect((await scim.get('/Users')).body).toMatchObject({ totalResults: 0 });
    const again = await scim.post('/Users', { userName: 'Ada' });
    expect(again).toMatchObject({ status: 201, body: { userName: 'Ada', active: true } });
    expect(again.body).not.toHaveProperty('externalId');
  });
});
