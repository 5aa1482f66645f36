import { hash } from '@node-rs/argon2';
import { availableParallelism } from 'node:os';
import { openPasswords, passwordCost } from './passwords';

/** The least that argon2 takes. */
const cheap = { memoryCost: 8, timeCost: 1, parallelism: 1 };

describe('passwords', () => {
  it('match only their own hash, which has a salt', async () => {
    const passwords = openPasswords(cheap);
    const [one, other] = await Promise.all([passwords.hash('Keel-7'), passwords.hash('Keel-7')]);

    expect(one).not.toBe(other);
    expect(await passwords.verify(one, 'Keel-7')).toBe(true);
    expect(await passwords.verify(one, 'keel-7')).toBe(false);
  });

  it('match in either form of a character', async () => {
    const passwords = openPasswords(cheap);

    expect(await passwords.verify(await passwords.hash('Cafe\u0301-7'), 'Caf\u00e9-7')).toBe(true);
  });

  it('never match without a hash', async () => {
    expect(await openPasswords(cheap).verify(undefined, '')).toBe(false);
  });

  it('are outdated when they were hashed at another cost', async () => {
    const passwords = openPasswords();

    expect(passwords.isOutdated(await hash('x', passwordCost))).toBe(false);
    expect(passwords.isOutdated(await hash('x', cheap))).toBe(true);
  });

  it('overloaded: those beyond the queue are refused, and all others are hashed', async () => {
    const passwords = openPasswords(cheap);
    const all = await Promise.allSettled(Array.from({ length: 100 }, () => passwords.hash('x')));

    const refused = all.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(100 - 64 - Math.min(4, availableParallelism()));
    expect(refused[0]).toMatchObject({ reason: { errorCode: 'overloaded', headers: { 'Retry-After': '1' } } });
    expect(await passwords.hash('x')).toContain('$argon2id$');
  });
});
