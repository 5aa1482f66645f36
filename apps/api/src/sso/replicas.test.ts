import { eventually, startService, type RunningService } from '@svc/testing';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { caller } from '../caller.testing';
import { identities, signLicense } from '../identities.testing';
import { scimClient, scimEnv } from '../routes/scim/scim.testing';
import { useOidc } from './oidc.testing';

jest.setTimeout(60_000);

const mapping = '/api/v1/auth/oidc/group-role-mapping';
const session = '/api/v1/auth/session';
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
/** Less than the 30 s after which a replica reads the mapping again without a notice. */
const soon = { withinMs: 10_000 };

describe('roles from groups at a second gateway', () => {
  const world = useOidc(scimEnv);
  const { api } = world;
  const dir = mkdtempSync(join(tmpdir(), 'svc-test-replicas-'));
  let second: RunningService;
  beforeAll(async () => {
    writeFileSync(join(dir, 'license.json'), signLicense('enterprise'));
    second = await startService('api', api.servers, {
      ...scimEnv,
      SVC_API_KEYS: JSON.stringify(Object.values(identities)),
      SVC_LICENSE_FILE: join(dir, 'license.json'),
      SVC_LICENSE_PUBLIC_KEY: signLicense.publicKey,
      SVC_OIDC_ISSUER: world.provider.issuer,
      SVC_OIDC_CLIENT_ID: world.provider.clientId,
    });
  }, 60_000);
  afterAll(async () => {
    await second?.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  /** Status and roles of a caller at the second gateway. */
  const readRoles = async (token: string) => {
    const { status, body } = await caller(second.url, bearer(token)).get(session);
    return { status, roles: (body['user'] as { roles: string[] } | undefined)?.roles };
  };

  it('a changed mapping of groups of OpenID Connect is in effect there', async () => {
    const exp = Math.floor(Date.now() / 1_000) + 600;
    const { issuer } = world.provider;
    const token = await world.provider.sign({ iss: issuer, aud: 'svc', sub: 'ci', groups: ['platform'], exp });
    const map = (role: string) =>
      api.as('admin').put(mapping, { oidc_groups_claim: 'groups', oidc_group_role_mapping: { platform: role } });
    expect((await map('operator')).status).toBe(200);
    await eventually(async () => expect(await readRoles(token)).toEqual({ status: 200, roles: ['operator'] }), soon);

    expect((await map('admin')).status).toBe(200);

    await eventually(async () => expect(await readRoles(token)).toEqual({ status: 200, roles: ['admin'] }), soon);
  });

  it('a member who is added by SCIM has the role there, and one who is removed has no session any more', async () => {
    const scim = scimClient(api);
    const user = await scim.post('/Users', { userName: 'alice', displayName: 'Alice' });
    const id = String(user.body['id']);
    const stored = await api.store.users.get(id);
    const { token } = await api.sessions.create({
      ...{ kind: 'user', userId: id, generation: stored?.generation ?? 0, tenant: 'acme', method: 'oidc' },
      address: '127.0.0.1',
    });
    expect(await readRoles(token)).toEqual({ status: 200, roles: ['viewer'] });

    const group = await scim.post('/Groups', { displayName: 'operator', members: [{ value: id }] });
    expect(group.status).toBe(201);
    await eventually(async () => expect(await readRoles(token)).toEqual({ status: 200, roles: ['operator'] }), soon);

    expect((await scim.del(`/Groups/${String(group.body['id'])}`)).status).toBe(204);
    await eventually(async () => expect((await readRoles(token)).status).toBe(401), soon);
  });
});
