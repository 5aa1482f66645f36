import { builtInRoles, coversRole, grantsAll, resolvePermissions, type Role } from './permissions';

const role = (permissions: Role['permissions'], inherits: readonly string[] = []): Role => ({
  description: '',
  permissions,
  inherits,
});

const roles = {
  ...builtInRoles,
  reader: role(['jobs.read']),
  writer: role(['jobs.write'], ['reader']),
  lead: role([], ['writer']),
  auditor: role(['audit.read']),
};

describe('permissions of a role', () => {
  it('include those of all the roles that it inherits from, directly or not', () => {
    expect([...resolvePermissions('lead', roles)].sort()).toEqual(['jobs.read', 'jobs.write']);
  });

  it('an unknown role has none, also one with the name of a property of objects', () => {
    expect(['nothing', 'constructor', '__proto__'].map((name) => resolvePermissions(name, roles).size)).toEqual([
      0, 0, 0,
    ]);
  });
});

describe('grantsAll', () => {
  it('`admin.*` grants every permission, and only itself grants it', () => {
    expect(grantsAll(new Set(['admin.*']), ['users.write', 'admin.*'])).toBe(true);
    expect(grantsAll(new Set(['users.write']), ['admin.*'])).toBe(false);
  });

  it('one missing permission is enough to refuse', () => {
    expect(grantsAll(new Set(['jobs.read', 'jobs.write']), ['jobs.read', 'jobs.approve'])).toBe(false);
    expect(grantsAll(new Set(), [])).toBe(true);
  });
});

describe('coversRole', () => {
  it.each([
    ['a role covers itself', 'reader', 'reader', true],
    ['an inherited permission counts as its own', 'lead', 'reader', true],
    ['an inherited permission of the other role is required too', 'reader', 'lead', false],
    ['neither of two different roles covers the other', 'writer', 'auditor', false],
    ['admin covers every role', 'admin', 'operator', true],
    ['no role without `admin.*` covers admin', 'operator', 'admin', false],
    ['every role covers an unknown one', 'reader', 'nothing', true],
    ['an unknown role covers no role with permissions', 'nothing', 'reader', false],
  ])('%s', (_, held, wanted, expected) => {
    expect(coversRole(held, wanted, roles)).toBe(expected);
  });

  it('without a table, the built-in roles count', () => {
    expect([coversRole('operator', 'viewer'), coversRole('operator', 'lead'), coversRole('viewer', 'user')]).toEqual([
      true,
      true,
      false,
    ]);
  });
});
