import { endpoints, type Endpoint } from '@svc/contract';
import { authenticator, sha256, type Identity } from '@svc/identity';
import { send } from './fuzz/wire-client.testing';
import { useApi } from './api.testing';

const identity = (scopes: readonly string[]): Identity => ({
  tenant: 'acme',
  principalId: 'sam',
  role: 'admin',
  keyId: 'scoped',
  keyName: 'scoped',
  allowCrossTenant: false,
  source: 'api_key',
  submitter: 'apikey:scoped',
  scopes,
});
const keys = new Map([
  [sha256('reads-all-writes-jobs'), identity(['read', 'jobs:write'])],
  [sha256('reads-jobs'), identity(['jobs:read'])],
]);

/** Spellings that the router treats as the same path. */
const spellings: readonly [string, (path: string) => string][] = [
  ['as declared', (path) => path],
  ['with an encoded resource', (path) => path.replace('/api/v1/', '/api/v1/%').replace(/%(.)/, encoded)],
  ['with an encoded prefix', (path) => path.replace('/api/', '/%61pi/')],
  ['in absolute form', (path) => `http://gate.example${path}`],
  ['with a trailing slash', (path) => `${path}/`],
];
const encoded = (_: string, letter: string) => `%${letter.charCodeAt(0).toString(16)}`;

describe('scopes of an API key', () => {
  const api = useApi({
    mount: {
      authenticate: authenticator(
        { keys: [{ find: (digest) => keys.get(digest) }], bearer: [], sessions: undefined },
        {
          defaultTenant: 'acme',
          allowAnonymous: false,
          allowHeaderPrincipal: false,
          jwtRequired: false,
          production: true,
        },
      ),
    },
  });
  const ask = async (key: string, method: string, target: string) => {
    const { status, text } = await send(api.url, { method, target, headers: { 'X-API-Key': key } });
    return { status, code: (JSON.parse(text || '{}') as { code?: string }).code };
  };
  // Text only: jest copies the arguments of a failing case between processes, and schemas are large.
  const writes = (endpoints as readonly Endpoint[])
    .filter(({ method, access }) => method !== 'get' && access !== 'public')
    .filter(({ path }) => !/^\/api\/v1\/(jobs|traces)\b/.test(path))
    .map(({ method, path }) => [method.toUpperCase(), path] as const);

  it.each(writes)('403: %s %s requires a write scope, for any spelling of its path', async (method, path) => {
    const target = path.replace(/:\w+/g, 'x');
    for (const [spelling, spelled] of spellings) {
      const answered = await ask('reads-all-writes-jobs', method, spelled(target));

      expect([spelling, answered]).toEqual([spelling, { status: 403, code: 'key_scope_insufficient' }]);
    }
  });

  it('200: a scope grants its resource, for any spelling of the path', async () => {
    for (const [spelling, spelled] of spellings) {
      const answered = await ask('reads-jobs', 'GET', spelled('/api/v1/jobs'));

      expect([spelling, answered.status]).toEqual([spelling, 200]);
    }
    expect((await ask('reads-jobs', 'HEAD', '/api/v1/jobs')).status).toBe(200);
  });
});
