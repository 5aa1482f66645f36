import fc from 'fast-check';
import { inOriginal, redact, redactText } from './redact';

const cut = (text: string, ...ranges: [number, number][]) =>
  Buffer.from(
    redact(
      Buffer.from(text),
      ranges.map(([offset, length]) => ({ offset, length })),
    ),
  ).toString();

describe('redact', () => {
  it.each<[string, [number, number][], string]>([
    ['abcdef', [], 'abcdef'],
    ['abcdef', [[1, 2]], 'a[REDACTED]def'],
    ['abcdef', [[0, 6]], '[REDACTED]'],
    [
      'abcdef',
      [
        [0, 1],
        [5, 1],
      ],
      '[REDACTED]bcde[REDACTED]',
    ],
    [
      'abcdef',
      [
        [3, 1],
        [1, 1],
      ],
      'a[REDACTED]c[REDACTED]ef',
    ],
    [
      'abcdef',
      [
        [1, 3],
        [2, 1],
      ],
      'a[REDACTED]ef',
    ],
    [
      'abcdef',
      [
        [1, 2],
        [2, 3],
      ],
      'a[REDACTED]f',
    ],
    [
      'abcdef',
      [
        [0, 2],
        [2, 2],
      ],
      '[REDACTED]ef',
    ],
    ['abcdef', [[4, 99]], 'abcd[REDACTED]'],
    [
      'abcdef',
      [
        [9, 2],
        [-3, 2],
        [2, 0],
        [3, -1],
      ],
      'abcdef',
    ],
    ['é日x', [[2, 3]], 'é[REDACTED]x'],
  ])('%s without %j: %s', (text, ranges, expected) => {
    expect(cut(text, ...ranges)).toBe(expected);
  });

  it('ignores findings without a position, and does not modify the body', () => {
    const body = Buffer.from('abc');

    expect(Buffer.from(redact(body, [{}, { offset: 1 }])).toString()).toBe('abc');
    redact(body, [{ offset: 0, length: 3 }]);
    expect(body.toString()).toBe('abc');
  });

  it('keeps every byte outside the ranges, in order, and removes those within', () => {
    const range = fc.record({ offset: fc.integer({ min: -3, max: 40 }), length: fc.integer({ min: -2, max: 20 }) });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 32 }), fc.array(range, { maxLength: 5 }), (body, ranges) => {
        const safe = body.map((byte) => byte | 0x80);
        const kept = [...safe].filter(
          (_, at) => !ranges.some(({ offset, length }) => at >= offset && at < offset + length),
        );

        const clean = [...redact(safe, ranges)];

        expect(clean.filter((byte) => byte >= 0x80)).toEqual(kept);
      }),
    );
  });
});

describe('redactText', () => {
  it('removes secrets and keeps the rest, including personal data', () => {
    const secret = `gh${'p_'}${'Zq7'.repeat(12)}`;

    expect(redactText(`ünder ${secret}, ask a@b.co`)).toBe('ünder [REDACTED], ask a@b.co');
    expect(redactText('nothing \ud800 to hide')).toBe('nothing \ud800 to hide');
  });

  it('is idempotent', () => {
    const once = redactText(`password=${'x7Kq9mZ2pL'} and postgres://u:${'pass1234'}@h/db`);

    expect(once).toBe('password=[REDACTED] and postgres://u:[REDACTED]@h/db');
    expect(redactText(once)).toBe(once);
  });
});

describe('inOriginal', () => {
  const body = Buffer.from('one SECRET two TOKENTOKEN three');
  const replaced = [
    { offset: 4, length: 6 },
    { offset: 15, length: 10 },
  ];
  const copy = Buffer.from(redact(body, replaced)).toString();
  const original = (text: string) => {
    const found = { offset: copy.indexOf(text), length: text.length };
    return inOriginal(body, replaced, [found]).map(({ offset, length }) =>
      body.toString('utf8', offset, offset + length),
    );
  };

  it.each([
    ['one', 'one'],
    ['two', 'two'],
    ['three', 'three'],
    [' two ', ' two '],
    ['DACTED] two', 'SECRET two'],
    ['two [REDA', 'two TOKENTOKEN'],
    ['one [REDACTED] two [REDACTED] three', 'one SECRET two TOKENTOKEN three'],
  ])('%j of the copy is %j', (text, expected) => {
    expect(copy).toContain(text);
    expect(original(text)).toEqual([expected]);
  });

  it('keeps a finding without a position unchanged', () => {
    expect(inOriginal(body, replaced, [{ type: 'scan_skipped' } as { offset?: number }])).toEqual([
      { type: 'scan_skipped' },
    ]);
  });
});
