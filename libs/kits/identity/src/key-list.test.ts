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
  it('a comma-separated list has keys of the default tenant', () => {
    expect(read('k1, k2 ,')).toEqual([admin('k1'), admin('k2')]);
  });

  it('line breaks separate entries like commas', () => {
    expect(read('k1\nk2\r\n')).toEqual([admin('k1'), admin('k2')]);
  });

  it('colons add tenant, role and principal', () => {
    expect(read('acme:k1,acme:k2:viewer,acme:k3:secops:spiffe://acme/bot')).toEqual([
      admin('k1', 'acme'),
      withRole('viewer', 'k2', 'acme'),
      { ...withRole('admin', 'k3', 'acme'), principalId: 'spiffe://acme/bot' },
    ]);
  });

  it('an empty tenant before the colon is the default tenant', () => {
    expect(read(':k1')).toEqual([admin('k1')]);
  });

  const entry = { tenant: 'acme', role: 'operator', principal_id: 'bo', allow_cross_tenant: true };
  const full = { ...withRole('operator', 'k1', 'acme'), principalId: 'bo', allowCrossTenant: true };
  it.each([
    ['an array', [{ key: 'k1', ...entry }, 'k2'], [full, admin('k2')]],
    ['an object by key', { k1: entry, k2: {} }, [full, admin('k2')]],
    ['an object with keys', { keys: [{ key: 'k1', ...entry }] }, [full]],
  ])('JSON: %s', (_, document, expected) => {
    expect(read(JSON.stringify(document))).toEqual(expected);
  });

  it('expires_at is an RFC 3339 time', () => {
    const [key] = read('[{"key":"k1","expires_at":"2030-01-01T00:00:00+01:00"}]');

    expect(key?.expiresAtMs).toBe(Date.UTC(2029, 11, 31, 23));
  });
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
    ['[7]', /entry 1: must be an object/],
    ['session-abc', /cannot begin with session-/],
  ])('%s', (text, message) => {
    expect(() => read(text)).toThrow(message);
    expect(() => read(text)).toThrow(/^(?!.*sk-)/);
  });
});
