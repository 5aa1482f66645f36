import fc from 'fast-check';
import { isCardNumber, looksRandom } from './checks';

/** Published test card numbers, in pieces. */
const cards = [
  ['4111', '1111', '1111', '1111'],
  ['5555', '5555', '5555', '4444'],
  ['3714', '496353', '98431'],
  ['3056', '930902', '5904'],
  ['4222', '2222', '2222', '2'],
];

describe('isCardNumber', () => {
  it.each(cards.map((parts) => parts.join(' ')))('%s is accepted, with separators and without', (card) => {
    expect([card, card.replaceAll(' ', '-'), card.replaceAll(' ', '')].map(isCardNumber)).toEqual([true, true, true]);
  });

  it('a number with one digit changed is rejected', () => {
    const change = fc.record({
      card: fc.constantFrom(...cards.map((parts) => parts.join(''))),
      at: fc.nat(12),
      by: fc.integer({ min: 1, max: 9 }),
    });
    fc.assert(
      fc.property(change, ({ card, at, by }) => {
        const wrong = card.slice(0, at) + ((Number(card[at]) + by) % 10) + card.slice(at + 1);

        expect(isCardNumber(wrong)).toBe(false);
      }),
    );
  });

  it.each(['', '0', '00000000000', '0000000000000000', '4444444444444444', '41111111111111111111'])(
    '%j is rejected',
    (text) => {
      expect(isCardNumber(text)).toBe(false);
    },
  );
});

describe('looksRandom', () => {
  it.each([
    ['x7Kq9mZ2pL', true],
    ['a1b2c3d4e5', true],
    ['aaaa1111', false],
    ['correcthorse', false],
    ['12345678', false],
    ['', false],
  ])('%j: %s', (text, expected) => {
    expect(looksRandom(text)).toBe(expected);
  });
});
