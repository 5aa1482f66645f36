import type { AuditAct } from '@svc/contract';
import type { UserRecord, UserWrite } from './index';
import { keys } from './keys';
import { useStore } from './store.testing';

const act: AuditAct = { event_type: 'identity.change', action: 'user.write', severity: 'MEDIUM', identity: 'root' };

describe('users', () => {
  const use = useStore();
  let next = 0;
  const newUser = (over: Partial<UserRecord> = {}): UserRecord => {
    next += 1;
    const now = '2026-01-01T00:00:00.000Z';
    return {
      ...{ id: `u-${next}`, tenant: 'acme', username: `User${next}`, role: 'viewer', source: 'user' },
      ...{ password: 'hash', created_at: now, updated_at: now, ...over },
    };
  };
  const write = (user: UserRecord, over: Partial<UserWrite> = {}) =>
    use.store.users.write({ user, expected: 0, act, ...over });
  const stored = async (id: string) => {
    const found = await use.store.users.get(id);
    if (!found) throw new Error(`no user ${id}`);
    return found;
  };

  it('finds a user by each lookup, ignoring case, in its tenant only', async () => {
    const user = newUser({ username: 'Ann', email: 'Ann@X.test', subjects: ['5ub'], external_id: 'E1' });
    await write(user);

    const { users } = use.store;
    const found = await Promise.all([
      users.findByName('acme', 'ANN'),
      users.findByEmail('acme', 'ann@x.TEST'),
      users.findBySubject('acme', '5ub'),
      users.findByExternalId('acme', 'e1'),
    ]);
    expect(found).toEqual(Array(4).fill({ user, revision: 1, generation: 0 }));
    expect(await users.findByName('other', 'ann')).toBeUndefined();
  });

  it.each([
    ['name', { username: 'TAKEN' }],
    ['name', { username: 'TAKEN@x.test' }],
    ['email', { email: 'TAKEN@x.test' }],
    ['email', { email: 'TAKEN' }],
    ['subject', { subjects: ['taken'] }],
    ['external', { external_id: 'TAKEN' }],
  ] as const)('refuses a taken %s, but not in another tenant', async (lookup, over) => {
    await write(newUser({ username: 'taken', email: 'taken@x.test', subjects: ['taken'], external_id: 'taken' }));

    expect(await write(newUser(over))).toEqual({ kind: 'taken', lookup });
    expect(await write(newUser({ ...over, tenant: 'other' }))).toMatchObject({ kind: 'written' });
  });

  it('accepts the address of a user as its own name', async () => {
    const user = newUser({ username: 'ann@x.test', email: 'Ann@x.test' });

    expect(await write(user)).toMatchObject({ kind: 'written' });
    expect(await write({ ...user, role: 'admin' }, { expected: 1 })).toMatchObject({ kind: 'written' });
  });

  it('keeps a name that was the address of another user before that was refused', async () => {
    const user = newUser({ username: 'bob@x.test' });
    await write(user);
    await use.redis.hset(keys.userLookups('acme'), 'email:bob@x.test', 'another');

    expect(await write({ ...user, role: 'admin' }, { expected: 1 })).toMatchObject({ kind: 'written' });
  });

  it('lets one of many concurrent writes of a revision win', async () => {
    const user = newUser();
    await write(user);

    const roles = ['a', 'b', 'c', 'd', 'e'];
    const outcomes = await Promise.all(roles.map((role) => write({ ...user, role }, { expected: 1 })));
    expect(outcomes.filter(({ kind }) => kind === 'written')).toHaveLength(1);
    expect((await stored(user.id)).user.role).toBe(roles[outcomes.findIndex(({ kind }) => kind === 'written')]);
  });

  it('frees old lookups, and the address of a disabled user', async () => {
    const user = newUser({ username: 'old', email: 'old@x.test' });
    await write(user);
    await write({ ...user, username: 'new', disabled: true }, { expected: 1 });

    expect(await use.store.users.findByName('acme', 'old')).toBeUndefined();
    expect(await use.store.users.findByEmail('acme', 'old@x.test')).toBeUndefined();
    expect(await write(newUser({ username: 'old', email: 'old@x.test' }))).toMatchObject({ kind: 'written' });
    expect(await write({ ...user, username: 'new' }, { expected: 2 })).toEqual({ kind: 'taken', lookup: 'email' });
  });

  it.each([
    ['the password changes', { password: 'other' }, {}, 1],
    ['the user is disabled', { disabled: true }, {}, 1],
    ['it is asked to', {}, { endSessions: true }, 1],
    ['the same password is hashed again', { password: 'again' }, { rehashed: true }, 0],
    ['only the name changes', { display_name: 'Ann' }, {}, 0],
  ] as const)('generation when %s', async (_, over, options, generation) => {
    const user = newUser();
    await write(user);

    expect(await write({ ...user, ...over }, { expected: 1, ...options })).toMatchObject({ revision: 2, generation });
  });

  it('keeps the last enabled admin of a tenant, when it is asked to', async () => {
    const [one, two] = [newUser({ role: 'admin', tenant: 't1' }), newUser({ role: 'admin', tenant: 't1' })];
    await write(one);
    await write(two);
    const demoted = { ...one, role: 'viewer' };

    expect(await write({ ...two, disabled: true }, { expected: 1, keepAdmin: true })).toMatchObject({
      kind: 'written',
    });
    expect(await write(demoted, { expected: 1, keepAdmin: true })).toEqual({ kind: 'last_admin' });
    expect(await write(demoted, { expected: 1 })).toMatchObject({ kind: 'written' });
  });

  it('lists the users of a tenant by name', async () => {
    const people = ['b', 'C', 'a'].map((username) => newUser({ username, tenant: 't2' }));
    for (const user of people) await write(user);

    expect((await use.store.users.list('t2')).map(({ user }) => user.username)).toEqual(['a', 'b', 'C']);
  });

  it('records the change with hashes of the record before and after, without the password', async () => {
    const user = newUser({ tenant: 't3', password: 'canary' });
    await write(user);
    await write({ ...user, role: 'operator' }, { expected: 1 });

    const entries = JSON.stringify(await use.store.redis.xrange(use.store.keys.auditOutbox(), '-', '+'));
    const hash = (await use.store.redis.hget(`svc:user:${user.id}`, 'hash')) ?? '';
    expect(entries).toContain(hash);
    expect(entries).not.toContain('canary');
  });
});
