import { openapi } from './openapi';
import { bodyLimits, routes, startSurface, type Ctx } from './surface.fixture';
import { mount } from './mount';
import type { MountOptions } from './options';
import { serveSwagger } from './swagger';
import request from 'supertest';

const endpoints = routes.map(({ endpoint }) => endpoint);
const document = openapi(endpoints, { title: 'Notes', version: '1' });
type Operation = Record<string, unknown> & {
  responses: Record<string, { content: Record<string, { schema: unknown }> }>;
};
const operation = (method: string, path: string) =>
  (document['paths'] as Record<string, Record<string, Operation>>)[path]?.[method];

describe('the OpenAPI document', () => {
  it('is of version 3.1 and has every endpoint once', () => {
    const paths = document['paths'] as Record<string, object>;

    expect(document['openapi']).toBe('3.1.0');
    expect(Object.values(paths).flatMap((path) => Object.keys(path))).toHaveLength(endpoints.length);
  });

  it('describes parameters, body, access and security', () => {
    expect(operation('post', '/api/v1/notes/{id}')).toMatchObject({
      operationId: 'notes.write',
      tags: ['notes'],
      'x-access': { permission: 'jobs.write', roles: ['admin', 'user'] },
      security: [{ apiKey: [] }, { bearer: [] }, { session: [] }],
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'string', maxLength: 20 } },
        { name: 'limit', in: 'query', required: false, schema: { type: 'integer', maximum: 10, default: 5 } },
        { name: 'tenant', in: 'query', required: false, description: 'Must be the caller’s.' },
        { $ref: '#/components/parameters/tenant' },
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { required: ['title'], additionalProperties: false, properties: { count: { minimum: 0 } } },
          },
        },
      },
    });
  });

  it('describes every response: success, alternatives, and errors with their codes', () => {
    const { responses } = operation('post', '/api/v1/notes/{id}') as Operation;

    expect(responses['201']).toMatchObject({
      headers: { 'X-Trace-Id': { description: 'Trace.' } },
      content: { 'application/json': { schema: { properties: { title: { type: 'string' } } } } },
    });
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '401', '403', '404', '413', '415', '429']));
    expect(responses['400']?.content['application/json']?.schema).toEqual({
      allOf: [
        { $ref: '#/components/schemas/Error' },
        { type: 'object', properties: { code: { enum: ['invalid_body', 'invalid_json', 'content_required'] } } },
      ],
    });
    expect(operation('get', '/readyz')).toMatchObject({
      security: [],
      responses: { 503: { description: 'Not ready' } },
    });
    expect(operation('get', '/readyz')?.responses['401']).toBeUndefined();
  });

  it('has no dangling reference', () => {
    const names = JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g);

    for (const [, path = ''] of names) {
      const found = path.split('/').reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], document);
      expect(found).toBeDefined();
    }
  });
});

describe('the viewer', () => {
  const surface = mount<Ctx>(routes, { act: async () => undefined }, {
    allowedOrigins: [],
    bodyLimits,
  } as unknown as MountOptions);
  serveSwagger(surface.app, document);
  const app = surface.finish();

  it('is served from local files with its own content security policy', async () => {
    const page = await request(app).get('/swagger/').expect(200).expect('Content-Type', /html/);

    const sources = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source);
    expect(sources.every((source) => source?.startsWith('./'))).toBe(true);
    expect(page.text).not.toMatch(/<script>/);
    expect(page.headers['content-security-policy']).toMatch(/script-src 'self';/);
    const answer = await request(app).get('/nothing').expect(404);
    expect(answer.headers['content-security-policy']).toBe("default-src 'none'; frame-ancestors 'none'");
  });

  it('finds its script, its style and the document', async () => {
    await request(app)
      .get('/swagger/swagger-ui-bundle.js')
      .expect(200)
      .expect('Content-Type', /javascript/);
    await request(app).get('/swagger/swagger-ui.css').expect(200);
    const init = await request(app).get('/swagger/swagger-ui-init.js').expect(200);

    expect(init.text).toContain('./openapi.json');
    expect((await request(app).get('/swagger/openapi.json').expect(200)).body).toEqual(document);
  });
});

describe('a page of the service itself', () => {
  it('may call it when other origins are configured', async () => {
    const api = await startSurface({ allowedOrigins: ['https://ui.example'] });
    const own = { Origin: api.url, 'Sec-Fetch-Site': 'same-origin' };

    expect(await api.as('admin')('PUT', '/api/v1/notes/1', {}, own)).toMatchObject({ status: 200 });
    await api.close();
  });
});
