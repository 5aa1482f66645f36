import { AppError } from '@svc/contract';
import { request as rawRequest } from 'node:http';
import { connect } from 'node:net';
import { endpointCases } from './endpoint-cases';
import { EventStream } from './event-stream';
import { mount } from './mount';
import { bodyLimit, dropNote, routes, startSurface } from './surface.fixture';

type Surface = Awaited<ReturnType<typeof startSurface>>;
const note = '/api/v1/notes/n1';

describe('guarded routes', () => {
  let api: Surface;
  let act: (name: string) => Promise<unknown> = async () => undefined;
  beforeAll(async () => {
    api = await startSurface(
      {
        handlerTimeoutMs: 100,
        asAppError: (e) => (e === 'store lost' ? new AppError('store_unavailable') : undefined),
      },
      (name) => act(name),
    );
  });
  afterEach(() => {
    act = async () => undefined;
    for (const list of [api.served, api.defects, api.refused]) list.splice(0);
  });
  afterAll(() => api.close());

  describe('declared endpoints', () => {
    const cases = endpointCases(
      routes.map(({ endpoint }) => endpoint),
      {
        send: async ({ method, path, headers, body }) =>
          api.send(method, path, { headers: { ...headers }, ...(body !== undefined && { body }) }),
        able: () => ({ 'X-API-Key': 'admin' }),
        unable: ({ access }) => (access === 'public' || access.roles === 'any' ? undefined : { 'X-API-Key': 'viewer' }),
        bodyLimit,
      },
    );

    it.each(cases.map((item) => [item.name, item.run] as const))('%s', (_, run) => run());

    it('has a case for every guarded route and body field', () => {
      expect(cases.map(({ name }) => name)).toEqual([
        'POST /api/v1/notes/:id 401: no credentials',
        'POST /api/v1/notes/:id 403: a caller without the permission',
        'POST /api/v1/notes/:id 400: a bad title is named',
        'POST /api/v1/notes/:id 400: a bad tags is named',
        'POST /api/v1/notes/:id 400: a bad count is named',
        'POST /api/v1/notes/:id 400: a bad tenant_id is named',
        'POST /api/v1/notes/:id 400: tags is not made of text',
        'POST /api/v1/notes/:id 400: count is not made of text',
        'POST /api/v1/notes/:id 400: a body of null',
        'POST /api/v1/notes/:id 400: a field it does not know',
        'POST /api/v1/notes/:id 400: not JSON',
        'POST /api/v1/notes/:id 413: a body beyond the limit',
        'PUT /api/v1/notes/:id 401: no credentials',
        'PUT /api/v1/notes/:id 400: a bad title is named',
        'PUT /api/v1/notes/:id 400: a body of null',
        'PUT /api/v1/notes/:id 400: not JSON',
        'PUT /api/v1/notes/:id 413: a body beyond the limit',
        'DELETE /api/v1/notes/:id 401: no credentials',
        'DELETE /api/v1/notes/:id 403: a caller without the permission',
      ]);
    });
  });

  describe('responses', () => {
    it('201: the handler gets validated values and defaults, the caller its headers', async () => {
      const { status, body, headers } = await api.as('user')('POST', `${note}?limit=7`, { title: 'Hi' });

      expect({ status, body }).toEqual({ status: 201, body: { id: 'n1', title: 'Hi', limit: 7, tenant: 'acme' } });
      expect(headers.get('X-Trace-Id')).toBe('trace-1');
    });

    it('200: unknown fields are dropped when the route ignores them, and an empty body is an empty object', async () => {
      const put = api.as('viewer');

      expect((await put('PUT', note, { title: 'a', more: { b: 1 } })).body).toEqual({ body: { title: 'a' } });
      expect((await put('PUT', note)).body).toEqual({ body: { title: 'untitled' } });
    });

    it('204: no body and no content type', async () => {
      const { status, headers } = await api.as('admin')('DELETE', note);

      expect(status).toBe(204);
      expect(headers.get('content-type')).toBeNull();
    });

    it('503: another declared status', async () => {
      expect(await api.send('GET', '/readyz?act=unready')).toMatchObject({ status: 503, body: { ok: false } });
    });

    it('500: an undeclared response is a defect when responses are checked', async () => {
      act = async () => 'not a boolean';

      expect(await api.send('GET', '/readyz')).toMatchObject({ status: 500 });
      expect(String(api.defects[0])).toMatch(/probe answers what it does not declare/);
    });

    it('a path parameter may hold an encoded slash and colon', async () => {
      const { body } = await api.as('admin')('POST', '/api/v1/notes/a%2Fb%3Ac', { title: 'x' });

      expect(body).toMatchObject({ id: 'a/b:c' });
    });
  });

  describe('the order of checks', () => {
    const bad = { title: 'x'.repeat(3_000), nonsense: 1 };

    it('credentials, then size, then role, then fields', async () => {
      expect(await api.send('POST', note, { body: bad })).toMatchObject({ status: 401 });
      expect(await api.as('viewer')('POST', note, bad)).toMatchObject({ status: 413, body: { limit_bytes: 2_000 } });
      expect(await api.as('viewer')('POST', note, { nonsense: 1 })).toMatchObject({ status: 403 });
      expect(await api.as('admin')('POST', note, { nonsense: 1 })).toMatchObject({ status: 400 });
    });

    it('413: a body without a declared size is cut at the limit', async () => {
      const status = await new Promise((resolve, reject) => {
        const headers = { 'X-API-Key': 'admin', 'Content-Type': 'application/json' };
        const req = rawRequest({ port: api.port, path: note, method: 'POST', headers }, (res) =>
          resolve(res.statusCode),
        );
        req.on('error', reject);
        for (let i = 0; i < 50; i += 1) req.write('x'.repeat(100));
        req.end();
      });

      expect(status).toBe(413);
    });

    it('413: a body with a declared size over the limit is rejected before it is sent', async () => {
      const headers = { 'X-API-Key': 'admin', 'Content-Type': 'application/json', 'Content-Length': 5_000 };
      const req = rawRequest({ port: api.port, path: note, method: 'POST', headers });
      const status = new Promise((resolve) => req.on('response', (res) => resolve(res.statusCode)));
      req.on('error', () => undefined).flushHeaders();

      expect(await status).toBe(413);
      req.destroy();
    });

    it('503: a missing dependency is reported before authorization', async () => {
      const broken = await startSurface({ missingDependency: ({ id }) => (id === dropNote.id ? 'store_unavailable' : undefined) });

      expect(await broken.as('viewer')('DELETE', note)).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
      expect(await broken.as('viewer')('PUT', note)).toMatchObject({ status: 200 });
      await broken.close();
    }); // prettier-ignore

    it('with RBAC licensed only the permission decides', async () => {
      const roles = { author: { description: '', permissions: ['jobs.write'], inherits: [] } } as const;
      const authenticate = async () => {
        const caller = { tenant: 'a', scope: 'a', principalId: '', role: 'author', keyId: '', keyName: '' };
        const rest = { allowCrossTenant: false, source: 'api_key', submitterId: '' } as const;
        return { kind: 'caller', caller: { ...caller, ...rest }, credential: { ids: [] } } as const;
      };
      const entitled = await startSurface({ gate: { rbac: () => true, roles: () => roles }, authenticate });
      const plain = await startSurface({ gate: { rbac: () => false, roles: () => roles }, authenticate });

      expect(await entitled.as('')('DELETE', note)).toMatchObject({ status: 204 });
      expect(await plain.as('')('DELETE', note)).toMatchObject({ status: 403 });
      await Promise.all([entitled.close(), plain.close()]);
    });
  });

  describe('error responses', () => {
    it('400: all violations at once, each with its path', async () => {
      const { body } = await api.as('admin')('POST', `${note}?limit=11`, { title: 'x', tags: ['a', 1], count: -1 });

      expect(body).toMatchObject({ code: 'invalid_body', status: 400 });
      expect(body['violations']).toEqual([
        { in: 'query', field: 'limit', path: 'limit', message: 'limit must be less than or equal to 10' },
        { in: 'body', field: 'tags', path: 'tags[1]', message: 'tags[1] must be a string' },
        { in: 'body', field: 'count', path: 'count', message: 'count must be greater than or equal to 0' },
      ]);
    });

    it('400: numbers in a body are not converted from text, those of a query are', async () => {
      const post = api.as('admin');

      for (const count of ['5', '1e3', ' 5', true])
        expect((await post('POST', note, { title: 'x', count })).body).toMatchObject({
          code: 'invalid_body',
          violations: [{ in: 'body', field: 'count', message: 'count must be a number' }],
        });
      expect((await post('POST', `${note}?limit=7`, { title: 'x', count: 5 })).body).toMatchObject({ limit: 7 });
    });

    it('400: a body that is not an object, also when it is optional', async () => {
      for (const text of ['null', '[]', '7', '"{}"', 'false']) {
        const violations = [{ in: 'body', field: '', path: '', message: 'send a JSON object as the body' }];
        expect((await api.as('admin')('PUT', note, text)).body).toMatchObject({ code: 'invalid_body', violations });
        expect((await api.as('admin')('POST', note, text)).body).toMatchObject({ code: 'invalid_body', violations });
      }
    });

    it('400: a field with a code of its own', async () => {
      expect((await api.as('admin')('POST', note, { tags: [] })).body).toMatchObject({ code: 'content_required' });
    });

    it('400: a repeated query parameter', async () => {
      const { body } = await api.as('admin')('POST', `${note}?limit=1&limit=2`, { title: 'x' });

      expect(body).toMatchObject({ code: 'invalid_body', violations: [{ in: 'query', field: 'limit' }] });
    });

    it('400: a path that cannot be decoded', async () => {
      expect(await api.as('admin')('DELETE', '/api/v1/notes/%ff')).toMatchObject({
        status: 400,
        body: { code: 'invalid_body', violations: [{ in: 'path' }] },
      });
    });

    it.each([
      ['a prototype', '{"title":"x","__proto__":{"role":"admin"}}'],
      ['an escaped prototype', '{"title":"x","\\u005f_proto__":{}}'],
      ['a constructor', '{"title":"x","constructor":{"prototype":{}}}'],
      ['deep nesting', `{"title":${'['.repeat(70)}${']'.repeat(70)}}`],
      ['a list', '[]'],
      ['bad UTF-8 written as text', '\ud800'],
    ])('400: %s', async (_, body) => {
      expect(await api.as('admin')('POST', note, body)).toMatchObject({ status: 400 });
    });

    it('400: a missing body, and an unexpected one', async () => {
      expect((await api.as('admin')('POST', note)).body).toMatchObject({ code: 'invalid_body' });
      expect((await api.as('admin')('DELETE', note, { force: true })).body).toMatchObject({ code: 'invalid_json' });
      expect(await api.as('admin')('DELETE', note, {})).toMatchObject({ status: 204 });
    });

    it.each([
      { 'Content-Type': 'text/plain' },
      { 'Content-Type': 'application/x-www-form-urlencoded' },
      { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
    ])('415: %j', async (headers) => {
      expect(await api.as('admin')('POST', note, '{"title":"x"}', headers)).toMatchObject({ status: 415 });
    });

    it.each([
      ['query', `${note}?tenant=beta`, { title: 'x' }],
      ['body', note, { title: 'x', tenant_id: 'beta' }],
    ])('403: another tenant named in the %s', async (_, path, body) => {
      expect((await api.as('admin')('POST', path, body)).body).toMatchObject({ code: 'tenant_access_denied' });
      expect(await api.as('everyone')('POST', path, body)).toMatchObject({ status: 201 });
    });

    it('404 and 405 in the same shape, 405 with the allowed methods', async () => {
      expect(await api.send('GET', '/api/v1/nothing')).toMatchObject({
        status: 404,
        body: { error: 'not found', code: 'not_found', status: 404 },
      });
      const { status, headers, body } = await api.send('PATCH', note);
      expect({ status, allow: headers.get('Allow') }).toEqual({ status: 405, allow: 'POST, PUT, DELETE' });
      expect(body).toMatchObject({ code: 'method_not_allowed' });
    });

    it('500: a defect is logged with its cause and returned without', async () => {
      act = async () => Promise.reject(new Error('redis://10.0.0.1 failed'));

      const { status, body } = await api.as('admin')('DELETE', note);

      expect({ status, body }).toEqual({
        status: 500,
        body: { error: 'internal error', code: 'internal_error', status: 500 },
      });
      expect(api.defects).toEqual([new Error('redis://10.0.0.1 failed')]);
    });

    it('a stream that is opened after the timeout is released', async () => {
      let open = (_stream: EventStream) => undefined as void;
      act = () => new Promise((resolve) => (open = resolve));
      expect(await api.as('admin')('DELETE', note)).toMatchObject({ status: 503 });

      const released = new Promise<void>((resolve) => {
        async function* read() {
          yield [];
        }
        open(new EventStream(read, resolve));
      });

      await released;
    });

    it('503: a recognized failure, and a handler timeout', async () => {
      act = async () => Promise.reject('store lost' as unknown as Error);
      expect((await api.as('admin')('DELETE', note)).body).toMatchObject({ code: 'store_unavailable' });

      act = () => new Promise(() => undefined);
      expect((await api.as('admin')('DELETE', note)).body).toMatchObject({ code: 'service_unavailable' });
      expect(api.defects).toEqual([]);
    });

    it('an AppError includes its extras and headers', async () => {
      act = async () => Promise.reject(new AppError('backpressure', { limit: 3 }, { 'Retry-After': '2' }));

      const { status, body, headers } = await api.as('admin')('DELETE', note);

      expect({ status, retry: headers.get('Retry-After') }).toEqual({ status: 429, retry: '2' });
      expect(body).toMatchObject({ code: 'BACKPRESSURE', limit: 3 });
    });
  });

  describe('every response', () => {
    it('has security headers and a request id, on errors too', async () => {
      const { headers } = await api.send('GET', '/nothing');

      expect(Object.fromEntries(headers)).toMatchObject({
        'x-request-id': expect.stringMatching(/^[0-9a-f]{16}$/) as string,
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'cache-control': 'no-store',
        'content-type': 'application/json; charset=utf-8',
      });
      expect([headers.has('x-powered-by'), headers.has('etag'), headers.has('strict-transport-security')]).toEqual([
        false,
        false,
        false,
      ]);
    });

    it.each([
      ['req-1.A:b', 'req-1.A:b'],
      ['<script>', expect.stringMatching(/^[0-9a-f]{16}$/)],
      ['x'.repeat(129), expect.stringMatching(/^[0-9a-f]{16}$/)],
    ])('returns the request id %s as %s', async (sent, expected) => {
      const { headers } = await api.send('GET', '/readyz', { headers: { 'X-Request-Id': sent } });

      expect(headers.get('x-request-id')).toEqual(expected);
    });

    it('has HSTS when configured', async () => {
      const strict = await startSurface({ hstsMaxAgeSec: 60 });

      const { headers } = await strict.send('GET', '/readyz');

      expect(headers.get('strict-transport-security')).toBe('max-age=60; includeSubDomains');
      await strict.close();
    });

    it('400: two Host headers', async () => {
      const text = await new Promise<string>((resolve) => {
        const socket = connect(api.port, '127.0.0.1', () =>
          socket.write('GET /readyz HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n'),
        );
        let received = '';
        socket.on('data', (chunk) => (received += chunk.toString()));
        socket.on('close', () => resolve(received));
      });

      expect(text).toMatch(/^HTTP\/1.1 400/);
    });
  });

  it('reports every request to the app: route, status, tenant, time, and rejected credentials', async () => {
    await api.as('admin')('POST', `${note}?limit=3`, { title: 'x' });
    await api.send('POST', note);
    await api.send('GET', '/nothing?secret=1');

    expect(api.served.map(({ endpoint, status, tenant, path }) => [endpoint?.id, status, tenant, path])).toEqual([
      ['notes.write', 201, 'acme', note],
      ['notes.write', 401, undefined, note],
      [undefined, 404, undefined, '/nothing'],
    ]);
    expect(api.served.every(({ durationMs }) => durationMs > 0)).toBe(true);
    expect(api.refused).toEqual(['unauthorized']);
  });

  it('two routes for one path do not start', () => {
    const [first] = routes;
    const twice = first ? [first, { ...first, endpoint: { ...first.endpoint, id: 'notes.again' } }] : [];

    expect(() => mount(twice, { act }, {} as Parameters<typeof mount>[2])).toThrow('two routes for post');
  });
});
