import { joinIdentities, sharesIdentity } from './identities';

describe('identities behind a piece of work', () => {
  it('are joined, each part once and without those that name nobody', () => {
    expect(joinIdentities('apikey:1|principal:ann', undefined, 'apikey:2|principal:', 'apikey:1|principal:bob')).toBe(
      'apikey:1|principal:ann|apikey:2|principal:bob',
    );
    expect(joinIdentities('', undefined)).toBe('');
  });

  it.each([
    ['the same key under another name', 'apikey:1|principal:ann', 'apikey:1|principal:bob', true],
    ['the same person with another key', 'apikey:1|principal:ann', 'apikey:2|principal:ann', true],
    ['anybody among several', 'apikey:1|principal:ann|apikey:2|principal:bob', 'apikey:3|principal:bob', true],
    ['keys that name nobody', 'apikey:1|principal:', 'apikey:2|principal:', false],
    ['a key that names nobody, with itself', 'apikey:1|principal:', 'apikey:1|principal:', true],
    ['nothing', '', 'apikey:1|principal:', false],
  ])('are shared: %s', (_, one, other, shared) => {
    expect(sharesIdentity(one, other)).toBe(shared);
  });
});
