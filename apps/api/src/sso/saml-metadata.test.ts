import { eventually } from '@svc/testing';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { browse } from './oidc.testing';
import { samlRoutes, useSaml } from './saml.testing';

jest.setTimeout(60_000);

describe('sign-in with SAML, with metadata of the provider by URL', () => {
  let isAvailable = false;
  let server: Server;
  beforeAll(async () => {
    server = createServer((_, res) => {
      res.writeHead(isAvailable ? 200 : 404, { 'Content-Type': 'application/samlmetadata+xml' });
      res.end(isAvailable ? world.idp.metadata : 'not yet');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  });
  afterAll(() => new Promise((done) => server.close(done)));
  const world = useSaml(() => ({
    SVC_SAML_IDP_METADATA_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/metadata`,
  }));
  const login = () => browse(world.api.url, `${samlRoutes}/login`, new Map());

  it('502: the gateway started without them, and sign-in works as soon as the provider serves them', async () => {
    const before = await login();
    isAvailable = true;
    await eventually(async () => expect((await login()).status).toBe(302), { withinMs: 20_000, everyMs: 100 });
    const { answer } = await world.signIn();

    expect(before).toMatchObject({ status: 502, body: { code: 'upstream_service_error' } });
    expect(answer).toMatchObject({ status: 302, fragment: { username: 'carol@example.com', source: 'saml' } });
  });
});
