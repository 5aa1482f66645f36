import { TOKEN_OVERLAP_MS } from '@svc/scim';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import { scimClient, scimEnv, scimToken } from './scim.testing';

const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error';

describe('SCIM tokens and settings', () => {
  let nowMs = Date.now();
  const api = useApi({ context: (ctx) => ({ ...ctx, scim: { ...ctx.scim, clock: { nowMs: () => nowMs } } }) });
  beforeEach(() => api.license('enterprise'));
  const works = async (token: string) => (await scimClient(api, token).get('/Users')).status;
  const rotate = async () => String((await api.as('admin').post('/api/v1/scim/settings/token')).body['bearerToken']);

  it('503 without a token; 401 for a wrong or missing one, and for the credentials of this API', async () => {
    expect(await scimClient(api).get('/Users')).toMatchObject({ status: 503, body: { schemas: [errorSchema], status: '503' } });
    await rotate();

    for (const answer of [await scimClient(api, 'scim-wrong').get('/Users'), await api.anonymous.get('/api/v1/scim/v2/Users'), await api.as('admin').get('/api/v1/scim/v2/Users')]) {
      expect(answer).toMatchObject({ status: 401, body: { schemas: [errorSchema], status: '401' } });
      expect(answer.headers).toMatchObject({ 'www-authenticate': 'Bearer', 'content-type': 'application/scim+json' });
    }
  }); // prettier-ignore

  it('a token is issued and shown once, and the one before it is valid for ten more minutes', async () => {
    const issued = (await api.as('admin').post('/api/v1/scim/settings/token')).body;
    const first = String(issued['bearerToken']);
    expect(first).toMatch(/^scim-[\w-]{43}$/);
    expect(issued).toEqual({
      bearerToken: first,
      bearerTokenMasked: `${first.slice(0, 8)}${'*'.repeat(36)}${first.slice(-4)}`,
      tokenManagedBy: 'redis',
    });
    const second = await rotate();
    expect([await works(first), await works(second)]).toEqual([200, 200]);
    nowMs += TOKEN_OVERLAP_MS;
    expect([await works(first), await works(second)]).toEqual([401, 200]);

    const third = await rotate();
    await rotate();
    expect([await works(second), await works(third)]).toEqual([401, 200]);
    const stored = JSON.stringify(await api.store.redis.hgetall('svc:scim:token'));
    expect([first, second, third].filter((token) => stored.includes(token))).toEqual([]);
  });

  it('200: settings name the endpoint, the masked token and the managed users', async () => {
    expect((await api.as('admin').get('/api/v1/scim/settings')).body).toMatchObject({ configured: false, tokenManagedBy: 'none', bearerTokenMasked: '' });
    const token = await rotate();
    await scimClient(api, token).post('/Users', { userName: 'ada', emails: [{ value: 'a@b.c' }] });

    const { body } = await api.as('admin').get('/api/v1/scim/settings');
    expect(body).toMatchObject({
      entitled: true,
      configured: true,
      endpointUrl: `${api.url}/api/v1/scim/v2/Users`,
      tokenManagedBy: 'redis',
      users: [{ userName: 'ada', displayName: '', email: 'a@b.c', source: 'scim', active: true }],
    });
    expect(JSON.stringify(body)).not.toContain(token);
  }); // prettier-ignore

  it('403: settings for admins of other tenants; 403 with the feature without a license that includes it', async () => {
    expect(statusAndCode(await api.as('other').get('/api/v1/scim/settings'))).toEqual({ status: 403, code: 'tenant_access_denied' });
    expect(statusAndCode(await api.as('other').post('/api/v1/scim/settings/token'))).toEqual({ status: 403, code: 'tenant_access_denied' });
    expect((await api.as('viewer').get('/api/v1/scim/settings')).status).toBe(403);
    api.license('community');

    expect(await scimClient(api).get('/Users')).toMatchObject({
      status: 403,
      body: { schemas: [errorSchema], status: '403', error: 'tier_limit_exceeded', code: 'tier_limit_exceeded', limit: 'scim', upgrade_url: '' },
    });
    expect(statusAndCode(await api.as('admin').get('/api/v1/scim/settings'))).toEqual({ status: 403, code: 'tier_limit_exceeded' });
  }); // prettier-ignore
});

describe('the SCIM protocol', () => {
  const api = useApi({ env: { ...scimEnv, SVC_API_BASE_URL: 'https://svc.example.com/' } });
  beforeEach(() => api.license('enterprise'));
  const scim = () => scimClient(api);

  it('200: discovery, at the base URL of the installation', async () => {
    const config = (await scim().get('/ServiceProviderConfig')).body;
    expect(config).toMatchObject({
      patch: { supported: true },
      filter: { supported: true, maxResults: 200 },
      sort: { supported: true },
      changePassword: { supported: false },
      authenticationSchemes: [{ type: 'oauthbearertoken' }],
      meta: { location: 'https://svc.example.com/api/v1/scim/v2/ServiceProviderConfig' },
    });
    const schemas = (await scim().get('/Schemas')).body['Resources'] as { id: string; name: string }[];
    expect(schemas.map(({ name }) => name)).toEqual([
      'User',
      'Group',
      'ServiceProviderConfig',
      'ResourceType',
      'Schema',
    ]);
    for (const schema of schemas) expect((await scim().get(`/Schemas/${schema.id}`)).body).toEqual(schema);
    expect((await scim().get('/ResourceTypes/User')).body).toMatchObject({ endpoint: '/Users' });
    expect((await scim().get('/ResourceTypes/Boat')).status).toBe(404);
  });

  it('404, 405, 415, 413: refusals have the form of the protocol', async () => {
    const text = 'x'.repeat(api.options.bodyLimits.json + 1);
    const answers = [
      await scim().get('/Boats'),
      await scim().send('PUT', '/Schemas', '{}'),
      await scim().send('POST', '/Users', '<a/>', { 'Content-Type': 'text/xml' }),
      await scim().post('/Users', { userName: text }),
    ];

    expect(answers.map(({ status, body }) => [status, body['status'], body['schemas']])).toEqual(
      [404, 405, 415, 413].map((status) => [status, String(status), [errorSchema]]),
    );
    expect((await scim().send('POST', '/Users', '{"userName":"j"}', { 'Content-Type': 'application/json' })).status).toBe(201);
  }); // prettier-ignore

  it('200: bulk creates, connects and changes resources, and reports each error', async () => {
    const { status, body } = await scim().post('/Bulk', {
      Operations: [
        { method: 'POST', path: '/Groups', bulkId: 'g', data: { displayName: 'operator', members: [{ value: 'bulkId:u' }] } },
        { method: 'post', path: '/Users', bulkId: 'u', data: { userName: 'ada' } },
        { method: 'POST', path: '/Users', bulkId: 'v', data: { userName: 'ADA' } },
        { method: 'PATCH', path: '/Users/bulkId:u', data: { Operations: [{ op: 'add', value: { displayName: 'Ada' } }] } },
        { method: 'DELETE', path: '/Users/none' },
        { method: 'PUT', path: '/Boats/1', data: {} },
        { method: 'POST', path: '/Groups', bulkId: 'h', data: { displayName: 'x', members: [{ value: 'bulkId:v' }] } },
      ],
    });

    const results = body['Operations'] as { bulkId?: string; status: string; location?: string; response?: object }[];
    expect(status).toBe(200);
    expect(results.map((one) => [one.bulkId, one.status])).toEqual([
      ['u', '201'], ['g', '201'], ['v', '409'], [undefined, '200'], [undefined, '404'], [undefined, '400'], ['h', '400'],
    ]);
    expect(results[2]?.response).toMatchObject({ schemas: [errorSchema], scimType: 'uniqueness' });
    const id = results[0]?.location?.split('/').pop() ?? '';
    expect((await scim().get(`/Users/${id}`)).body).toMatchObject({ displayName: 'Ada', roles: [{ value: 'operator' }] });

    const stopped = await scim().post('/Bulk', { failOnErrors: 1, Operations: [{ method: 'DELETE', path: '/Users/a' }, { method: 'DELETE', path: '/Users/b' }] });
    expect(stopped.body['Operations']).toHaveLength(1);
    const many = Array.from({ length: 201 }, () => ({ method: 'DELETE', path: '/Users/a' }));
    expect((await scim().post('/Bulk', { Operations: many })).status).toBe(413);
  }); // prettier-ignore

  it('the token is in no error and no event', async () => {
    await scim().post('/Users', { userName: '' });
    await scimClient(api, `${scimToken}x`).get('/Users');

    const events = await api.as('admin').get('/api/v1/audit/events?limit=200');
    expect(JSON.stringify(events.body)).not.toContain(scimToken);
  });
});
