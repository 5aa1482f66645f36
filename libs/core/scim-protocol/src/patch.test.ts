import type { Json } from './attributes';
import { ScimFault } from './fault';
import { groupSchema } from './group-schema';
import { applyPatch, type PatchOperation, readOperations } from './patch';
import { buildUserSchema } from './user-schema';

const schema = buildUserSchema(['admin', 'viewer']);
const mail = { value: 'ada@example.com', type: 'work', primary: true };
const ada = { userName: 'ada', name: { givenName: 'Ada' }, emails: [mail], active: true, roles: [{ value: 'viewer' }] };
const patched = (...operations: PatchOperation[]) => applyPatch(schema, ada, operations);
const faultType = (change: () => unknown) => {
  try {
    change();
  } catch (error) {
    return error instanceof ScimFault ? error.scimType : error;
  }
  return 'applied';
};

describe('PATCH of a user', () => {
  const changes: [string, PatchOperation, Json][] = [
    ['adds an attribute', { op: 'add', path: 'displayName', value: 'Ada' }, { displayName: 'Ada' }],
    ['adds a part', { op: 'add', path: 'name.familyName', value: 'B' }, { name: { givenName: 'Ada', familyName: 'B' } }],
    ['keeps the other parts', { op: 'replace', path: 'name', value: { familyName: 'B' } }, { name: { givenName: 'Ada', familyName: 'B' } }],
    ['removes a part', { op: 'remove', path: 'NAME.givenname' }, { name: undefined }],
    ['removes an attribute', { op: 'remove', path: 'emails' }, { emails: undefined }],
    ['takes an object without a path', { op: 'replace', value: { displayName: 'A', id: 'x', shoeSize: 9 } }, { displayName: 'A' }],
    ['takes paths as names', { op: 'add', value: { 'name.familyName': 'B', 'urn:ietf:params:scim:schemas:core:2.0:User:active': false } }, { name: { givenName: 'Ada', familyName: 'B' }, active: false }],
    ['takes an object under the URN', { op: 'add', value: { 'urn:ietf:params:scim:schemas:core:2.0:User': { displayName: 'A' } } }, { displayName: 'A' }],
    ['replaces a selected part', { op: 'replace', path: 'emails[type eq "work"].value', value: 'b@x.y' }, { emails: [{ ...mail, value: 'b@x.y' }] }],
    ['reads a type that is written as value', { op: 'replace', path: 'emails[value eq "work"].value', value: 'b@x.y' }, { emails: [{ ...mail, value: 'b@x.y' }] }],
    ['replaces the only value', { op: 'add', path: 'emails', value: [{ value: 'c@x.y' }] }, { emails: [{ value: 'c@x.y' }] }],
    ['chooses the primary value', { op: 'replace', path: 'emails', value: [{ value: 'c@x.y' }, { value: 'd@x.y', primary: true }] }, { emails: [{ value: 'd@x.y', primary: true }] }],
    ['removes a selected value', { op: 'remove', path: 'emails[type eq "work"]' }, { emails: undefined }],
    ['ignores a value that is not there', { op: 'remove', path: 'emails[type eq "home"]' }, { emails: [mail] }],
    ['reads booleans that are text', { op: 'replace', path: 'active', value: 'False' }, { active: false }],
    ['removes the role', { op: 'remove', path: 'roles' }, { roles: undefined }],
    ['takes a role as text', { op: 'add', path: 'roles', value: 'admin' }, { roles: [{ value: 'admin' }] }],
  ]; // prettier-ignore

  it.each(changes)('%s', (_, operation, expected) => expect(patched(operation)).toEqual({ ...ada, ...expected }));

  it('creates the only address where the path selects none', () => {
    const { emails: _, ...bare } = ada;
    const operation = { op: 'replace', path: 'emails[type eq "work"].value', value: 'a@x.y' } as const;

    expect(applyPatch(schema, bare, [operation])['emails']).toEqual([{ type: 'work', value: 'a@x.y' }]);
  });

  it('does not change the resource that it is given', () => {
    const before = structuredClone(ada);
    patched({ op: 'add', path: 'name.familyName', value: 'B' }, { op: 'remove', path: 'emails' });

    expect(ada).toEqual(before);
  });

  const refused: [string, PatchOperation][] = [
    ['invalidPath', { op: 'add', path: 'shoeSize', value: 9 }],
    ['invalidPath', { op: 'add', path: 'name.shoeSize', value: 9 }],
    ['invalidPath', { op: 'add', path: '__proto__', value: {} }],
    ['invalidPath', { op: 'add', path: 'name[givenName eq "a"]', value: 9 }],
    ['invalidPath', { op: 'add', path: 'emails[type eq "work"', value: 9 }],
    ['invalidPath', { op: 'add', path: 'emails[type eq "work"]value', value: 9 }],
    ['invalidFilter', { op: 'add', path: 'emails[shoeSize eq "9"]', value: {} }],
    ['invalidFilter', { op: 'add', path: 'emails[]', value: {} }],
    ['mutability', { op: 'replace', path: 'meta.created', value: 'x' }],
    ['mutability', { op: 'replace', path: 'schemas', value: [] }],
    ['mutability', { op: 'remove', path: 'userName' }],
    ['noTarget', { op: 'remove' }],
    ['invalidValue', { op: 'add', path: 'active', value: 'maybe' }],
    ['invalidValue', { op: 'add', path: 'name', value: 'Ada' }],
    ['invalidValue', { op: 'add', path: 'displayName', value: { a: 1 } }],
    ['invalidValue', { op: 'add', value: 'x' }],
  ];
  it.each(refused)('%s: %j', (type, operation) => expect(faultType(() => patched(operation))).toBe(type));
});

describe('PATCH of a group', () => {
  const staff = { displayName: 'Staff', members: [{ value: 'a' }, { value: 'b' }] };
  const members = (...operations: PatchOperation[]) => applyPatch(groupSchema, staff, operations)['members'];

  it('adds and removes members', () => {
    expect(members({ op: 'add', path: 'members', value: [{ value: 'b' }, { value: 'c' }] })).toEqual([{ value: 'a' }, { value: 'b' }, { value: 'c' }]);
    expect(members({ op: 'remove', path: 'members[value eq "a"]' })).toEqual([{ value: 'b' }]);
    expect(members({ op: 'remove', path: 'members', value: [{ value: 'b' }] })).toEqual([{ value: 'a' }]);
    expect(members({ op: 'replace', path: 'members', value: [] })).toBeUndefined();
    expect(members({ op: 'remove', path: 'members' })).toBeUndefined();
  }); // prettier-ignore

  it('noTarget, mutability, invalidValue', () => {
    const refused = [
      { op: 'replace', path: 'members[value eq "x"]', value: { value: 'y' } },
      { op: 'replace', path: 'members[value eq "a"].value', value: 'y' },
      { op: 'add', path: 'members', value: [{ display: 'no id' }] },
    ] as const;

    expect(refused.map((one) => faultType(() => members(one)))).toEqual(['noTarget', 'mutability', 'invalidValue']);
  });
});

describe('the operations of a PATCH request', () => {
  it('are read in any case', () => {
    expect(readOperations({ operations: [{ OP: 'Add', Path: 'active', Value: true }] })).toEqual([
      { op: 'add', path: 'active', value: true },
    ]);
  });

  it.each([
    {},
    { Operations: [] },
    { Operations: {} },
    { Operations: [null] },
    { Operations: [{ op: 'test' }] },
    { Operations: [{ op: 'add', path: 5 }] },
    { Operations: Array(1_001).fill({ op: 'add' }) },
  ])('invalidSyntax', (body) => expect(faultType(() => readOperations(body))).toBe('invalidSyntax'));
});
