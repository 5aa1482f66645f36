import { parseKeyList } from './key-list';

const read = (text: string) => parseKeyList(text, 'SVC_API_KEYS', 'default');
const withRole = (role: string, key: string, tenant = 'default') => ({
  key,
  tenant,
  role,
  isAdminByDefault: false,
  principalId: '',
  allowCrossTenant: false,
});
/** An entry without a role. */
const admin = (key: string, tenant?: string) => ({ ...withRole('admin', key, tenant), isAdminByDefault: true });

describe('formats of SVC_API_KEYS', () => {
  const entry = { tenant: 'acme', role: 'operator', principal_id: 'bo', allow_cross_tenant: true };
  const full = { ...withRole('operator', 'k1', 'acme'), principalId: 'bo', allowCrossTenant: true };
  it.each<[string, string | object, ReturnType<typeof read>]>([
    ['k1,k2', 'k1, k2 ,', [admin('k1'), admin('k2')]],
    ['one key in a line', 'k1\nk2\r\n', [admin('k1'), admin('k2')]],
    ['tenant:key', 'acme:k1', [admin('k1', 'acme')]],
    [':key, in the default tenant', ':k1', [admin('k1')]],
    ['tenant:key:role', 'acme:k1:viewer', [withRole('viewer', 'k1', 'acme')]],
    ['tenant:key:, without a role', 'acme:k1:', [admin('k1', 'acme')]],
    ['tenant:key:role:principal', 'acme:k1:Operator:bo', [{ ...withRole('operator', 'k1', 'acme'), principalId: 'bo' }]],
    ['a principal with colons', 'acme:k1:user:spiffe://acme/bo', [{ ...withRole('user', 'k1', 'acme'), principalId: 'spiffe://acme/bo' }]],
    ['lists of several forms', 'k1,acme:k2\nacme:k3:viewer', [admin('k1'), admin('k2', 'acme'), withRole('viewer', 'k3', 'acme')]],
    ['secops, which is admin', 'acme:k1:secops', [withRole('admin', 'k1', 'acme')]],
    ['[entry]', [{ key: 'k1', ...entry }, { key: 'k2' }], [full, admin('k2')]],
    ['["key"]', ['k1', { key: 'k2', tenant: 'acme' }], [admin('k1'), admin('k2', 'acme')]],
    ['{<key>: entry}', { k1: entry, k2: {} }, [full, admin('k2')]],
    ['{<key>: entry} that repeats its key', { k1: { key: 'k1', ...entry } }, [full]],
    ['{<key>: entry} of a key named keys', { keys: { role: 'viewer' } }, [withRole('viewer', 'keys')]],
    ['{keys: [entry]}', { keys: [{ key: 'k1', ...entry }] }, [full]],
    ['secops in JSON', [{ key: 'k1', role: 'SecOps' }], [withRole('admin', 'k1')]],
    ['empty and null fields', [{ key: 'k1', tenant: '', role: null, expires_at: '', allow_cross_tenant: null }], [admin('k1')]],
    ['expires_at', [{ key: 'k1', expires_at: '2028-02-29T00:00:00.5+01:00' }], [{ ...admin('k1'), expiresAtMs: Date.UTC(2028, 1, 28, 23, 0, 0, 500) }]],
    ['no key', '', []],
    ['no entry', [], []],
  ])('%s', (_, written, expected) => {
    expect(read(typeof written === 'string' ? written : ` ${JSON.stringify(written)}\n`)).toEqual(expected);
  }); // prettier-ignore
});

describe('an invalid list is rejected with a message that names the entry and not the key', () => {
  it.each([
    ['[{"key":"sk-abc"},{"key":"sk-def","expires_at":"soon"}]', /entry 2: expires_at must be a time/],
    ['[{"key":"sk-abc","expires_at":"2030-02-01"}]', /entry 1: expires_at/],
    ['[{"key":"sk-abc"', /not valid JSON/],
    ['[{"tenant":"acme"}]', /entry 1: has no key/],
    ['acme:', /entry 1: has no key/],
    ['*:sk-abc', /entry 1: tenant/],
    ['sk-abc,sk-abc', /entry 2 repeats/],
    ['[{"key":"sk-abc","expires":"2030-01-01T00:00:00Z"}]', /entry 1: has a field that is not one of/],
    ['[{"key":"sk-abc","allow_cross_tenant":"yes"}]', /allow_cross_tenant must be true or false/],
    ['[{"key":"sk-abc","expires_at":"2030-02-31T00:00:00Z"}]', /entry 1: expires_at/],
    ['[{"key":"sk-abc","expires_at":1900000000}]', /expires_at must be a string/],
    ['[{"key":"sk-abc","role":["viewer"]}]', /role must be a string/],
    ['[7]', /entry 1: must be an object/],
    ['{"sk-abc":"viewer"}', /entry 1: must be an object/],
    ['{"sk-abc":{"key":"sk-def"}}', /entry 1: names two keys/],
    ['{"keys":[{"key":"sk-abc"}],"sk-def":{"role":"viewer"}}', /has fields besides the list "keys"/],
    ['acme::viewer', /entry 1: has no key/],
    ['session-abc', /cannot begin with session-/],
  ])('%s', (text, message) => {
    expect(() => read(text)).toThrow(message);
    expect(() => read(text)).toThrow(/^(?!.*sk-)/);
  });
});
