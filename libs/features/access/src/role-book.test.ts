import { builtInRoles, type Permission } from '@svc/contract';
import { useRedisStore } from '@svc/fixtures/store';
import { RoleBook } from './role-book';

const stored = (permissions: Permission[], inherits: string[] = []) => ({
  ...{ description: '', permissions, inherits, created_at: '', updated_at: '' },
});

describe('roles in memory', () => {
  const use = useRedisStore();
  let nowMs = 1_000_000;
  const open = (changes: string[] = []) =>
    new RoleBook({
      roles: use.store.roles,
      clock: { nowMs: () => nowMs },
      onChanged: () => void changes.push('changed'),
    });

  it('the built-in roles are stored once, by whichever gateway is first', async () => {
    await Promise.all([open().sync(), open().sync()]);

    const { version, roles } = await use.store.roles.read();
    expect([version, [...roles.keys()].sort()]).toEqual([1, ['admin', 'operator', 'viewer']]);
  });

  it('a change is reported once', async () => {
    const changes: string[] = [];
    const book = open(changes);
    await book.sync();
    await use.store.roles.write(1, new Map([['auditor', stored(['audit.read'])]]));

    await book.sync();
    await book.sync();

    expect(book.all()['auditor']?.permissions).toEqual(['audit.read']);
    expect(changes).toEqual(['changed']);
  });

  it('without Redis from the start, built-in roles are in effect and others are not', () => {
    expect(open().all()).toEqual(builtInRoles);
  });

  it('while Redis does not answer, custom roles end, and built-in roles get nothing back', async () => {
    const book = open();
    await book.sync();
    await use.store.roles.write(1, new Map([['auditor', stored(['audit.read'])], ['viewer', stored(['jobs.read', 'dlq.read'])]])); // prettier-ignore
    await book.sync();
    expect(book.all()['viewer']?.permissions).toEqual(['jobs.read', 'dlq.read']);

    nowMs += 5_000;

    expect(book.all()['auditor']).toBeUndefined();
    expect(book.all()['viewer']?.permissions).toEqual(['jobs.read']);
    expect(book.all()['operator']).toEqual(builtInRoles['operator']);
  });

  it('a write after another change is refused', async () => {
    await open().sync();

    const writes = [stored(['jobs.read']), stored(['jobs.write'])].map((role) =>
      use.store.roles.write(1, new Map([['auditor', role]])),
    );

    expect((await Promise.all(writes)).map(({ kind }) => kind).sort()).toEqual(['changed', 'written']);
  });
});
