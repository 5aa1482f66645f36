import { originCheck } from './cors';
import { startSurface } from './surface.fixture';

describe('allowed origins', () => {
  it.each([
    ['http://localhost:3000', true],
    ['http://127.0.0.1:9', true],
    ['http://[::1]:8082', true],
    ['https://gate.example', true],
    ['https://gate.example:444', false],
    ['https://evil.example', false],
    ['http://localhost.evil.example', false],
    ['http://127.0.0.1.evil.example', false],
    ['file://localhost', false],
    ['null', false],
  ])('none configured: %s %p', (origin, allowed) => {
    expect(originCheck([], { trustsLoopback: true })(origin, 'gate.example')).toBe(allowed);
  });

  it.each([
    ['http://localhost:3000', false],
    ['http://127.0.0.1:9', false],
    ['http://[::1]:8082', false],
    ['http://app.localhost', false],
    ['https://gate.example', true],
  ])('none configured, loopback not trusted: %s %p', (origin, allowed) => {
    expect(originCheck([], { trustsLoopback: false })(origin, 'gate.example')).toBe(allowed);
  });

  it.each([
    ['https://ui.example', true],
    ['https://UI.example', true],
    ['http://ui.example', false],
    ['https://ui.example.evil', false],
    ['http://localhost:3000', false],
    ['null', false],
  ])('one configured: %s %p', (origin, allowed) => {
    expect(originCheck(['https://ui.example/'], { trustsLoopback: true })(origin, 'gate.example')).toBe(allowed);
  });
});

describe('a dev server on the same machine', () => {
  it('403: it cannot act with the session cookie of the service in production, where no origins are configured', async () => {
    const headers = { Origin: 'http://localhost:3000', Cookie: 'svc_session=x' };
    const put = async (trustsLoopback: boolean) => {
      const api = await startSurface({ trustsLoopback });
      const answered = await api.send('PUT', '/api/v1/notes/n1', { headers, body: {} });
      await api.close();
      return [answered.status, answered.headers.get('access-control-allow-credentials')];
    };

    expect(await put(false)).toEqual([403, null]);
    expect(await put(true)).toEqual([200, 'true']);
  });
});

describe('requests from browsers', () => {
  let api: Awaited<ReturnType<typeof startSurface>>;
  const path = '/api/v1/notes/n1';
  beforeAll(async () => (api = await startSurface({ allowedOrigins: ['https://ui.example'] })));
  afterAll(() => api.close());

  it('204: the preflight of an allowed origin lists methods and headers', async () => {
    const { status, headers } = await api.send('OPTIONS', path, {
      headers: { Origin: 'https://ui.example', 'Access-Control-Request-Method': 'POST' },
    });

    expect(status).toBe(204);
    expect(Object.fromEntries(headers)).toMatchObject({
      'access-control-allow-origin': 'https://ui.example',
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET,POST,PUT,PATCH,DELETE,OPTIONS',
      'access-control-allow-headers':
        'Content-Type,Authorization,X-API-Key,X-Tenant-ID,X-Principal-Id,X-Principal-Role,X-Request-Id,Idempotency-Key,X-Idempotency-Key,If-Match',
    });
  });

  it('an allowed origin may read the response and its headers', async () => {
    const { headers } = await api.as('admin')('PUT', path, {}, { Origin: 'https://ui.example' });

    expect(headers.get('access-control-allow-origin')).toBe('https://ui.example');
    expect(headers.get('access-control-expose-headers')).toMatch(/X-Request-Id,X-Trace-Id,X-RateLimit-Limit/);
    expect(headers.get('vary')).toMatch(/Origin/);
  });

  it.each(['OPTIONS', 'PUT'])('403: %s from another origin, without CORS headers', async (method) => {
    const { status, body, headers } = await api.send(method, path, { headers: { Origin: 'https://evil.example' } });

    expect({ status, code: body['code'] }).toEqual({ status: 403, code: 'origin_not_allowed' });
    expect(headers.has('access-control-allow-origin')).toBe(false);
  });

  it('without an Origin header, no CORS headers', async () => {
    const { status, headers } = await api.as('admin')('PUT', path, {});

    expect({ status, cors: headers.has('access-control-allow-origin') }).toEqual({ status: 200, cors: false });
  });

  describe('with the session cookie', () => {
    const put = async (headers: Record<string, string>, method = 'PUT', body: unknown = {}) =>
      (await api.send(method, path, { headers: { Cookie: 'svc_session=x', ...headers }, body })).status;

    it('200 from our own page, an allowed page, and with another credential', async () => {
      expect(await put({ 'Sec-Fetch-Site': 'same-origin' })).toBe(200);
      expect(await put({ Origin: 'https://ui.example' })).toBe(200);
      expect(await put({ 'X-API-Key': 'admin' })).toBe(200);
    });

    it('403 without an origin, from another site, and in the form of an HTML form', async () => {
      expect(await put({})).toBe(403);
      expect(await put({ 'Sec-Fetch-Site': 'cross-site' })).toBe(403);
      expect(await put({ 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'text/plain' })).toBe(403);
    });
  });
});
