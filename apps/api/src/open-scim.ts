import type { License } from '@svc/identity';
import { startLoops } from '@svc/platform';
import type { ApiEnv, Boot } from '@svc/runtime';
import { applyRoles, GroupRepository, type ScimContext, type ScimDeps, TokenRepository } from '@svc/scim';
import type { Store } from '@svc/store';
import { randomBytes } from 'node:crypto';
import type { Access } from './open-access';
import type { CredentialNotices } from './open-credential-notices';

const ROLE_CHECK_MS = 5_000;

interface ScimParts extends Pick<ScimDeps, 'random'> {
  store: Store;
  license: License;
  access: Pick<Access, 'roleBook'>;
  notices: Pick<CredentialNotices, 'announce'>;
}

/** Dependencies of SCIM, and the loop that completes changes of roles after a crash. */
export function openScim(
  { env, clock, log, onStop }: Boot<ApiEnv>,
  { store, random, license, access: { roleBook }, notices }: ScimParts,
): ScimContext['scim'] {
  const deps: ScimContext['scim'] = {
    store,
    random,
    license,
    clock,
    groups: new GroupRepository(store.redis),
    tokens: new TokenRepository(store.redis),
    roles: () => roleBook.all(),
    onSessionsEnded: (userId) => notices.announce(`user:${userId}`),
    defaultTenant: env.defaultTenant,
    newToken: () => randomBytes(32).toString('base64url'),
    settings: {
      baseUrl: env.apiBaseUrl?.replace(/\/$/, ''),
      scheme: env.httpTlsCert ? 'https' : 'http',
      bearerToken: env.scimBearerToken,
      hidesDeleted: env.scimDeletedUsers === 'hidden',
      maxBodyBytes: env.maxJsonBodyBytes,
    },
  };
  const loop = { name: 'scim-roles', everyMs: ROLE_CHECK_MS, run: () => applyRoles(deps, { requestId: '' }) };
  const onFailure = (_: string, error: unknown) =>
    log.oncePer('scim-roles', 60_000).warn('roles of SCIM groups not applied yet', { error });
  onStop('scim-roles', startLoops([loop], onFailure));
  return deps;
}
