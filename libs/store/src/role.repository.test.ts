import type { StoredRole, UserRecord } from './index';
import { useStore } from './store.testing';

const times = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' };
const role: StoredRole = { description: '', permissions: ['jobs.read'], inherits: [], ...times };
const user: UserRecord = { id: 'u1', tenant: 'acme', username: 'ann', role: 'clerk', source: 'user', ...times };
const act = { event_type: 'identity.change', action: 'user.write', severity: 'MEDIUM' } as const;

describe('roles', () => {
  const use = useStore();

  it('are written only if none has changed since they were read', async () => {
    const { roles } = use.store;

    expect(await roles.write(0, new Map([['clerk', role]]))).toEqual({ kind: 'written' });
    expect(await roles.write(0, new Map([['lead', role]]))).toEqual({ kind: 'changed' });
    expect(await roles.read()).toEqual({ version: 1, roles: new Map([['clerk', role]]) });
  });

  it('are not removed while users have them, also users who got them after the roles were read', async () => {
    const { roles, users } = use.store;
    const remove = (version: number) => roles.write(version, new Map([['clerk', undefined]]));
    await roles.write(0, new Map([['clerk', role]]));
    const { version } = await roles.read();
    await users.write({ user, expected: 0, act });

    expect(await remove(version)).toEqual({ kind: 'in_use', users: 1 });
    expect(await roles.version()).toBe(version);
    await users.write({ user: { ...user, role: 'viewer' }, expected: 1, act });
    expect(await remove(version)).toEqual({ kind: 'written' });
  });
});
