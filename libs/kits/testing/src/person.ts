/**
 * Somebody who calls with a key of their own, of the tenant acme unless it is said otherwise. The contract's own type is not
 * named here, since its tests import this library; whoever hands it on has it checked against that type.
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
