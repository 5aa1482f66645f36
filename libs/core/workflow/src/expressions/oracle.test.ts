import fc from 'fast-check';
import { expression } from './expressions.testing';

/**
 * Random expressions, each with its value computed independently in the simplest way. `undefined` means that it must fail;
 * texts use the older or the CEL spelling, with brackets only where needed.
 */
interface Sample {
  text: string;
  level: number;
  value: (item: unknown) => Outcome;
}
type Outcome = { ok: unknown } | undefined;

const scope = { input: { n: 2, f: 2.5, s: 'crate', list: [3, 'a', null], map: { a: 1, in: 2 } }, loop: { index: 0 } };
const atom = (text: string, ok: unknown): Sample => ({ text, level: 20, value: () => ({ ok }) });
const wrap = (sample: Sample, level: number) => (sample.level < level ? `(${sample.text})` : sample.text);

const atoms = fc.constantFrom<Sample>(
  atom('0', 0),
  atom('1', 1),
  atom('2.0', 2),
  atom("'cr'", 'cr'),
  atom('"a b"', 'a b'),
  atom('nil', null),
  atom('true', true),
  atom('[]', []),
  atom('input.n', 2),
  atom('input["f"]', 2.5),
  atom('input.s', 'crate'),
  atom('input.list', [3, 'a', null]),
  atom('input.map', { a: 1, in: 2 }),
  atom('input.map.in', 2),
  atom('loop.index', 0),
  atom('input.missing.deeper', undefined),
  { text: '#', level: 20, value: (item) => ({ ok: item }) },
);

const truthy = (value: unknown) =>
  !(value === null || value === undefined || value === false || value === '' || value === 0) &&
  !(typeof value === 'object' && value !== null && Object.keys(value).length === 0);
const same = (a: unknown, b: unknown) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
const areNumbers = (a: unknown, b: unknown) => typeof a === 'number' && typeof b === 'number';
const areTexts = (a: unknown, b: unknown) => typeof a === 'string' && typeof b === 'string';
const finite = (value: number): Outcome => (Number.isFinite(value) ? { ok: value } : undefined);
const ofNumbers = (apply: (a: number, b: number) => number) => (a: unknown, b: unknown) =>
  areNumbers(a, b) ? finite(apply(a as number, b as number)) : undefined;
const ordered = (holds: (a: string, b: string) => boolean) => (a: unknown, b: unknown) =>
  areNumbers(a, b) || areTexts(a, b) ? { ok: holds(a as string, b as string) } : undefined;
const ofTexts = (test: (a: string, b: string) => boolean) => (a: unknown, b: unknown) => {
  if (a === null || a === undefined || b === null || b === undefined) return { ok: false };
  return areTexts(a, b) ? { ok: test(a as string, b as string) } : undefined;
};
const within = (a: unknown, b: unknown): Outcome => {
  if (b === null || b === undefined) return { ok: false };
  if (Array.isArray(b)) return { ok: b.some((item) => same(item, a)) };
  if (typeof b === 'object') return { ok: typeof a === 'string' && a in b };
  if (typeof b !== 'string') return undefined;
  return ofTexts((part, whole) => whole.includes(part))(a, b);
};
const add = (a: unknown, b: unknown): Outcome => {
  if (areTexts(a, b)) return { ok: `${String(a)}${String(b)}` };
  if (Array.isArray(a) && Array.isArray(b)) return { ok: a.concat(b) };
  return ofNumbers((x, y) => x + y)(a, b);
};

/** Spellings, level (higher binds tighter), and its effect on two values. */
const operators: [spellings: string[], level: number, apply: (a: unknown, b: unknown) => Outcome][] = [
  [['=='], 4, (a, b) => ({ ok: same(a, b) })],
  [['!='], 4, (a, b) => ({ ok: !same(a, b) })],
  [['<'], 5, ordered((a, b) => a < b)],
  [['>='], 5, ordered((a, b) => a >= b)],
  [['in'], 5, within],
  [['not in'], 5, (a, b) => within(a, b) && { ok: !(within(a, b)?.ok ?? false) }],
  [['contains'], 5, (a, b) => (Array.isArray(a) ? within(b, a) : ofTexts((x, y) => x.includes(y))(a, b))],
  [['startsWith'], 5, ofTexts((a, b) => a.startsWith(b))],
  [['endsWith'], 5, ofTexts((a, b) => a.endsWith(b))],
  [['+'], 6, add],
  [['-'], 6, ofNumbers((a, b) => a - b)],
  [['*'], 7, ofNumbers((a, b) => a * b)],
  [['/'], 7, ofNumbers((a, b) => a / b)],
  [['%'], 7, ofNumbers((a, b) => a % b)],
];

const bothSides = (left: Sample, right: Sample, [spellings, level, apply]: (typeof operators)[number]): Sample => ({
  text: `${wrap(left, level)} ${String(spellings[0])} ${wrap(right, level + 1)}`,
  level,
  value(item) {
    const a = left.value(item);
    const b = a && right.value(item);
    return a && b ? apply(a.ok, b.ok) : undefined;
  },
});

function logic(left: Sample, right: Sample, spelling: string): Sample {
  const isOr = spelling === 'or' || spelling === '||';
  const level = isOr ? 2 : 3;
  return {
    text: `${wrap(left, level)} ${spelling} ${wrap(right, level + 1)}`,
    level,
    value(item) {
      const a = left.value(item);
      if (!a || truthy(a.ok) === isOr) return a && { ok: isOr };
      const b = right.value(item);
      return b && { ok: truthy(b.ok) };
    },
  };
}

const coalesce = (left: Sample, right: Sample): Sample => ({
  text: `${wrap(left, 10)} ?? ${wrap(right, 11)}`,
  level: 10,
  value(item) {
    const a = left.value(item);
    return a && (a.ok ?? undefined) === undefined ? right.value(item) : a;
  },
});

const raise = (base: Sample, exponent: Sample): Sample => ({
  text: `${wrap(base, 10)} ** ${wrap(exponent, 9)}`,
  level: 9,
  value(item) {
    const a = base.value(item);
    const b = a && exponent.value(item);
    return a && b ? ofNumbers(Math.pow)(a.ok, b.ok) : undefined;
  },
});

const unary = (operand: Sample, spelling: '-' | '!' | 'not '): Sample => ({
  text: `${spelling}${wrap(operand, 9)}`,
  level: 8,
  value(item) {
    const a = operand.value(item);
    if (!a || spelling !== '-') return a && { ok: !truthy(a.ok) };
    return typeof a.ok === 'number' ? { ok: -a.ok } : undefined;
  },
});

const choose = (condition: Sample, chosen: Sample, otherwise: Sample): Sample => ({
  text: `${wrap(condition, 2)} ? ${wrap(chosen, 2)} : ${otherwise.text}`,
  level: 1,
  value(item) {
    const a = condition.value(item);
    return a && (truthy(a.ok) ? chosen : otherwise).value(item);
  },
});

/** Rounds in order, until `stops`; undefined when one fails. */
function rounds(items: unknown[], body: Sample, stops: (value: unknown) => boolean): unknown[] | undefined {
  const values: unknown[] = [];
  for (const item of items) {
    const value = body.value(item);
    if (!value) return undefined;
    values.push(value.ok ?? null);
    if (stops(value.ok)) break;
  }
  return values;
}

function predicate(list: Sample, body: Sample, name: 'any' | 'all' | 'filter' | 'map'): Sample {
  return {
    text: `${name}(${list.text}, ${body.text})`,
    level: 20,
    value(outer) {
      const of = list.value(outer);
      if (!of) return undefined;
      const whole = of.ok ?? [];
      if (typeof whole !== 'object') return undefined;
      const items: unknown[] = Array.isArray(whole) ? whole : Object.keys(whole);
      const values = rounds(items, body, (value) =>
        name === 'any' ? truthy(value) : name === 'all' && !truthy(value),
      );
      if (!values) return undefined;
      if (name === 'any') return { ok: values.some(truthy) };
      if (name === 'all') return { ok: values.every(truthy) };
      return { ok: name === 'map' ? values : items.filter((_item, i) => truthy(values[i])) };
    },
  };
}

const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    { weight: 3, arbitrary: atoms },
    { weight: 4, arbitrary: fc.tuple(tie('sample'), tie('sample'), fc.constantFrom(...operators)).map((a) => bothSides(...a)) },
    { weight: 2, arbitrary: fc.tuple(tie('sample'), tie('sample'), fc.constantFrom('and', '&&', 'or', '||')).map((a) => logic(...a)) },
    { weight: 1, arbitrary: fc.tuple(tie('sample'), tie('sample')).map((a) => coalesce(...a)) },
    { weight: 1, arbitrary: fc.tuple(tie('sample'), tie('sample')).map((a) => raise(...a)) },
    { weight: 1, arbitrary: fc.tuple(tie('sample'), fc.constantFrom('-' as const, '!' as const, 'not ' as const)).map((a) => unary(...a)) },
    { weight: 1, arbitrary: fc.tuple(tie('sample'), tie('sample'), tie('sample')).map((a) => choose(...a)) },
    { weight: 2, arbitrary: fc.tuple(tie('sample'), tie('sample'), fc.constantFrom('any' as const, 'all' as const, 'filter' as const, 'map' as const)).map((a) => predicate(...a)) },
  ),
})); // prettier-ignore

const evaluated = (text: string): Outcome => {
  const made = expression(text);
  try {
    return { ok: made.evaluate(scope) };
  } catch {
    return undefined;
  }
};

describe('expressions agree with a reference evaluator', () => {
  const start = atom('[1, 0, input.s]', [1, 0, 'crate']);

  it('in value and in failing', () => {
    fc.assert(
      fc.property(sample, (body) => {
        const whole = predicate(start, body, 'map');
        fc.pre(whole.text.length <= 4_096);
        expect(evaluated(whole.text)).toEqual(whole.value(undefined));
      }),
      { numRuns: 1_000 },
    );
  });

  it('however the words are spaced', () => {
    fc.assert(
      fc.property(sample, fc.constantFrom('  ', '\n', '\t \n'), (body, space) => {
        const whole = predicate(start, body, 'map');
        const spaced = whole.text.replaceAll('"a b"', '"a_b"').replaceAll(' ', space);
        fc.pre(spaced.length <= 4_096);
        expect(evaluated(spaced)).toEqual(evaluated(whole.text.replaceAll('"a b"', '"a_b"')));
      }),
    );
  });
});
