import { joinIdentities, sharesIdentity } from './identities';

describe('identities of contributors', () => {
  it('are joined without duplicates and without empty parts', () => {
    expect(joinIdentities('apikey:1|principal:ann', undefined, 'apikey:2|principal:', 'apikey:1|principal:bob')).toBe(
      'apikey:1|principal:ann|apikey:2|principal:bob',
    );
    expect(joinIdentities('', undefined)).toBe('');
  });

  it.each([
    ['the same key under another name', 'apikey:1|principal:ann', 'apikey:1|principal:bob', true],
    ['the same person with another key', 'apikey:1|principal:ann', 'apikey:2|principal:ann', true],
    ['any one of several', 'apikey:1|principal:ann|apikey:2|principal:bob', 'apikey:3|principal:bob', true],
    ['two keys without a principal', 'apikey:1|principal:', 'apikey:2|principal:', false],
    ['a key without a principal, with itself', 'apikey:1|principal:', 'apikey:1|principal:', true],
    ['nothing', '', 'apikey:1|principal:', false],
  ])('are compared: %s', (_, one, other, shared) => {
    expect(sharesIdentity(one, other)).toBe(shared);
  });
});
