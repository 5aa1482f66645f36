import * as contract from '@svc/contract';
import { endpoints, type Endpoint } from '@svc/contract';
import { endpointCases, openapi } from '@svc/http';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { apiInfo } from './api-info';
import { useApi } from './api.testing';
import { identities } from './identities.testing';
import { routes } from './routes';

const files = ['apps/api/src', 'libs/features']
  .map((folder) => join(__dirname, '../../..', folder))
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)))
  .filter((file) => file.endsWith('.ts') && !/\.(test|testing)\.ts$/.test(file));
const listed: readonly unknown[] = endpoints;
const isEndpoint = ([, value]: [string, unknown]) => listed.includes(value);

describe('the endpoints and their handlers', () => {
  it('every endpoint has exactly one handler', () => {
    const served = routes.map(({ endpoint }) => endpoint.id).sort();

    expect(served).toEqual(endpoints.map(({ id }) => id).sort());
  });

  it.each(
    Object.entries(contract)
      .filter(isEndpoint)
      .map(([name]) => name),
  )('%s is handled in one file', (name) => {
    expect(files.filter((file) => readFileSync(file, 'utf8').includes(`handle(contract.${name},`))).toHaveLength(1);
  });

  it('files that handle requests are the routes of a feature', () => {
    const names = files
      .filter((file) => readFileSync(file, 'utf8').includes('handlersFor<'))
      .map((file) => basename(file));

    expect(new Set(names)).toEqual(new Set(['routes.ts']));
  });

  it('every change declares how it is recorded in the audit chain, with a resource that the request names', () => {
    const changing = endpoints.filter(({ method }) => method !== 'get');
    const silent = changing.filter((endpoint: Endpoint) => endpoint.audit === undefined).map(({ id }) => id);
    const unnamed = endpoints.filter(({ audit, path, body, query }: Endpoint) => {
      const field = typeof audit === 'object' ? audit.resource?.[1] : undefined;
      if (field === undefined || path.includes(`:${field}`)) return false;
      return ![body, query].some((part) => field in ((part?.describe().keys ?? {}) as object));
    });

    expect(silent).toEqual([]);
    expect(unnamed.map(({ id }) => id)).toEqual([]);
  });

  it('what only reads is recorded as a read, and nothing else is', () => {
    const recorded = endpoints.filter(({ audit }: Endpoint) => typeof audit === 'object');
    const types = recorded.map(({ method, audit }: Endpoint) => [
      method === 'get',
      typeof audit === 'object' && audit.type,
    ]);

    expect(
      types.filter(([isGet]) => isGet).every(([, type]) => type === 'governance.read' || type === 'audit.export'),
    ).toBe(true);
    expect(types.filter(([isGet]) => !isGet).map(([, type]) => type)).not.toContain('governance.read');
  });

  it('the OpenAPI document is derived from them', () => {
    const written = readFileSync(join(__dirname, '../../../docs/openapi.json'), 'utf8');

    expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(openapi(endpoints, apiInfo('1')))));
  });
});

describe('every endpoint', () => {
  const api = useApi();
  // Routes that need a license are checked like all others.
  beforeEach(() => api.license('enterprise'));
  const cases = endpointCases(endpoints, {
    send: async ({ method, path, headers, body }) => api.anonymous.send(method, path, body, headers),
    able: () => ({ 'X-API-Key': identities.admin.key }),
    unable: ({ access }) =>
      access === 'public' || access.roles === 'any' ? undefined : { 'X-API-Key': identities.guest.key },
    bodyLimit: ({ bodyLimit }) => api.options.bodyLimits[bodyLimit ?? 'json'],
  });

  it.each(cases)('$name', ({ run }) => run());

  it('405: an unsupported method, with the supported methods of the path', async () => {
    const { status, headers } = await api.as('admin').send('PATCH', '/api/v1/jobs');

    expect({ status, allow: headers['allow'] }).toEqual({ status: 405, allow: 'POST, GET' });
  });

  it('401: a wrong key; 403: a tenant that the key does not cover', async () => {
    const wrong = await api.anonymous.get('/api/v1/jobs', { 'X-API-Key': 'no-key-of-ours' });
    const elsewhere = await api.as('admin').get('/api/v1/jobs', { 'X-Tenant-ID': 'globex' });

    expect(wrong).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
    expect(elsewhere).toMatchObject({ status: 403, body: { code: 'tenant_access_denied' } });
  });

  it('200: every response has the security headers and the request id', async () => {
    const { headers } = await api.as('admin').get('/api/v1/jobs', { 'X-Request-Id': 'r-1' });

    expect(headers).toMatchObject({
      'x-request-id': 'r-1',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    });
  });
});
