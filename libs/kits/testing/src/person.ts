/**
 * A caller with an API key, by default of the tenant acme. Declares its own type, because the contract's tests import this
 * library; the compiler checks it against the contract's `Caller` where it is used.
 */
export function person(name: string, over: Partial<Person> = {}): Person {
  const { tenant = 'acme' } = over;
  return {
    tenant,
    scope: tenant,
    principalId: name,
    role: 'admin',
    keyId: `key-of-${name}`,
    keyName: name,
    allowCrossTenant: false,
    source: 'api_key',
    submitterId: `apikey:key-of-${name}|principal:${name}`,
    ...over,
  };
}

export interface Person {
  tenant: string;
  scope: string;
  principalId: string;
  role: string;
  keyId: string;
  keyName: string;
  allowCrossTenant: boolean;
  source: 'api_key';
  submitterId: string;
}
