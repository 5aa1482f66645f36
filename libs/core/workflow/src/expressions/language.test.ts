import { EvaluationError, isTruthy, type Scope } from './expression';
import { expression, getFault, evaluateSource } from './expressions.testing';

const scope: Scope = {
  input: {
    count: 3,
    ratio: 2.5,
    name: 'Crate Nine',
    none: null,
    tags: ['a', 'b'],
    rows: [
      { id: 'x', kg: 4 },
      { id: 'y', kg: 9 },
    ],
    requirement: 'scale',
    import: 1,
    größe: 7,
  },
  steps: { execute: { output: 5 }, weigh: { status: 'failed' } },
  loop: { index: 2 },
  item: 'it',
  $now: 1_700_000_000_000,
};

/** One row for each element of the language: source, value. */
const language: Record<string, [source: string, value: unknown][]> = {
  literals: [
    ['42', 42],
    ['2.5e1', 25],
    ['0x1F', 31],
    [`'single'`, 'single'],
    ['"double"', 'double'],
    [`"a 'b' c"`, "a 'b' c"],
    [`'tab\\t\\u00e9 \\'q\\''`, "tab\té 'q'"],
    [`r'\\d'`, '\\d'],
    [`"""two\nlines"""`, 'two\nlines'],
    ['true', true],
    ['false', false],
    ['nil', null],
    ['null', null],
    ['[1, "a", nil]', [1, 'a', null]],
    ['[]', []],
    ['{a: 1, "b c": 2, in: 3, not: 4, nil: 5}', { a: 1, 'b c': 2, in: 3, not: 4, nil: 5 }],
    ['{(item): 1}', { it: 1 }],
    ['{a: input.missing, b: nil}', { b: null }],
    ['{}', {}],
  ],
  access: [
    ['input.count', 3],
    ['input["count"]', 3],
    ['input.rows[1].id', 'y'],
    ['input.tags[0]', 'a'],
    ['input.tags[9]', undefined],
    ['input.tags[-1]', undefined],
    ['input.tags[0.5]', undefined],
    ['input.missing.deeper[3]["x"]', undefined],
    ['missing', undefined],
    ['missing.member', undefined],
    ['input.none.member', undefined],
    ['input.count.member', undefined],
    ['input.name.length', undefined],
    ['steps.execute.output', 5],
    ['input.requirement', 'scale'],
    ['input.import', 1],
    ['input.größe', 7],
    ['loop.index', 2],
    ['{in: 1}.in', 1],
  ],
  comparison: [
    ['1 == 1.0', true],
    ['input.count == 3.0', true],
    ['input.ratio > 2', true],
    ['3 >= 3', true],
    ['2 < 1.5', false],
    ['2 <= 2', true],
    ['1 != 2', true],
    ['"a" < "b"', true],
    ['nil == input.missing', true],
    ['nil == false', false],
    ['1 == "1"', false],
    ['[1, {a: [2]}] == [1.0, {a: [2]}]', true],
    ['{a: 1, b: 2} == {b: 2, a: 1}', true],
    ['{a: 1} == {a: 1, b: 1}', false],
    ['[1] == [1, 2]', false],
  ],
  logic: [
    ['true and false', false],
    ['true && true', true],
    ['false or true', true],
    ['false || false', false],
    ['not true', false],
    ['!false', true],
    ['not not 1', true],
    ['false and 1 / 0 > 1', false],
    ['true or 1 / 0 > 1', true],
    ['false and false or true', true],
    ['input.count and input.tags', true],
    ['input.missing or ""', false],
    [`not (steps.weigh.status in ['failed', 'denied'])`, false],
  ],
  arithmetic: [
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['7 / 2', 3.5],
    ['7 % 4', 3],
    ['2 ** 3', 8],
    ['2 ** 3 ** 2', 512],
    ['-2 ** 2', -4],
    ['2 ** -1', 0.5],
    ['2 * 3 ** 2', 18],
    ['10 - 4 - 3', 3],
    ['1 + 0.5', 1.5],
    ['"a" + \'b\'', 'ab'],
    ['[1] + [2]', [1, 2]],
  ],
  'membership and text': [
    ['2 in [1, 2]', true],
    ['2.0 in [1, 2]', true],
    ['"a" in {a: 1}', true],
    ['"b" in {a: 1}', false],
    ['"rat" in input.name', true],
    ['1 in input.missing', false],
    ['3 not in [1, 2]', true],
    ['not (3 in [1, 2])', true],
    ['input.name contains "rate"', true],
    ['input.name contains "x" + "y"', false],
    ['input.tags contains "b"', true],
    ['input.name startsWith "Crate"', true],
    ['input.name endsWith "Nine"', true],
    ['input.name endsWith "nine"', false],
    ['input.name matches "^C[a-z]+ N"', true],
    ['input.name matches "^" + "N"', false],
    ['input.missing contains "a"', false],
    ['input.name startsWith input.missing', false],
    ['input.missing matches "a"', false],
    ['input.name contains "C" and input.name endsWith "e"', true],
    ['input.name contains "C" == true', true],
    ['"a" contains "a" ? 1 : 2', 1],
  ],
  choice: [
    ['true ? 1 : 2', 1],
    ['input.missing ? 1 : 2', 2],
    ['false ? 1 : true ? 2 : 3', 2],
    ['true ? 1 : 1 / 0', 1],
    ['input.missing ?? 5', 5],
    ['nil ?? nil ?? 6', 6],
    ['false ?? 6', false],
    ['1 ?? (1 / 0)', 1],
    ['input.missing ?? 4 + 1', 5],
    ['input.missing ?? 2 ** 3', 8],
    ['-input.missing ?? -4', 4],
    ['(input.a ?? {b: 2}).b', 2],
  ],
  functions: [
    ['length([1, 2])', 2],
    ['length({a: 1})', 1],
    ['length("größe 🙂")', 7],
    ['len(input.tags)', 2],
    ['length(input.missing)', 0],
    ['first([4, 5])', 4],
    ['first([])', undefined],
    ['last([4, 5])', 5],
    ['last(input.missing)', undefined],
    ['lower("AB")', 'ab'],
    ['upper("ab")', 'AB'],
    ['trim("  a ")', 'a'],
    ['int("42")', 42],
    ['int(-2.7)', -2],
    ['float("2.5")', 2.5],
    ['float(" 1e3 ")', 1000],
    ['int(input.missing)', undefined],
    ['string(1.5) + string(true) + string(nil)', '1.5true'],
    ['string([1, {a: "b"}])', '[1,{"a":"b"}]'],
    ['keys({a: 1, b: 2})', ['a', 'b']],
    ['values({a: 1, b: nil})', [1, null]],
    ['keys(input.missing)', []],
    ['now()', 1_700_000_000_000],
    ['any([1, 2], # > 1)', true],
    ['any([], true)', false],
    ['all([1, 2], # > 1)', false],
    ['all(input.missing, false)', true],
    ['filter([1, 2, 3], # % 2 == 1)', [1, 3]],
    ['map(input.rows, #.kg * 2)', [8, 18]],
    ['map(input.rows, #.missing)', [null, null]],
    ['map({a: 1}, #)', ['a']],
    ['filter(input.rows, any([4, 5], # == 4) and #.kg > 5)', [{ id: 'y', kg: 9 }]],
    ['map([1, 2], map([10, 20], # + 1))', [[11, 21], [11, 21]]],
  ],
  'the same in CEL': [
    ['size(input.tags)', 2],
    ['input.tags.size()', 2],
    ['input.name.contains("ate")', true],
    ['input.name.startsWith("C") && input.name.endsWith("e")', true],
    ['input.name.matches("^C")', true],
    ['double("1.5")', 1.5],
    ['has(input.none)', true],
    ['has(input.missing)', false],
    ['input.rows.exists(r, r.kg > 5)', true],
    ['input.rows.exists_one(r, r.kg > 1)', false],
    ['input.rows.all(r, r.kg > 1)', true],
    ['input.rows.map(r, r.id)', ['x', 'y']],
    ['input.rows.map(r, r.kg > 5, r.id)', ['y']],
    ['input.rows.filter(r, input.rows.all(s, s.kg <= r.kg))', [{ id: 'y', kg: 9 }]],
    ['[[1, 2], [3]].map(a, a.map(b, b + a[0]))', [[2, 3], [6]]],
    ['[1].map(loop, loop + 1)', [2]],
    ['[1].map(input, input)', [1]],
  ],
}; // prettier-ignore

describe.each(Object.entries(language))('expressions: %s', (_element, rows) => {
  it.each(rows)('%s', (source, value) => {
    expect(evaluateSource(source, scope)).toEqual(value);
    expect(evaluateSource(`\${ ${source} }`, scope)).toEqual(value);
    expect(evaluateSource(`(${source})`, scope)).toEqual(value);
  });
});

describe('expressions: error messages', () => {
  it.each([
    ['', 'the expression is empty @1:1'],
    ['${  }', 'the expression is empty @1:5'],
    ['1 +', 'the expression ends too early @1:4'],
    ['a ??', 'the expression ends too early @1:5'],
    ['a **\n)', '`)` closes nothing @2:1'],
    ['(a ?? )', '`)` is not expected here @1:7'],
    ['a contains and b', '`and` is not expected here @1:12'],
    ['a b', '`b` is not expected here @1:3'],
    ['a not b', '`not` is not expected here @1:3'],
    ['a == 1,', '`,` is not expected here @1:7'],
    ['input.name\n  == "x" andd 1', '`andd` is not expected here @2:10'],
    ['(1', '`(` is never closed @1:1'],
    ['[1)', '`)` found where `]` is expected @1:3'],
    [`"a" + 'b`, 'the text is never closed @1:7'],
    [`'a\nb'`, 'the text is never closed @1:1'],
    ['a ~ b', '`~` means nothing here @1:3'],
    ['a 🙂 b', '`🙂` means nothing here @1:3'],
    ['1abc', '`1abc` is neither a number nor a name @1:1'],
    ['"a\\q"', 'invalid escape sequence: \\q @1:1'],
    ['größe', '`größe` is no name: letters are a to z @1:1'],
    ['1 + explode(2)', /^there is no function explode; there are length, .* @1:5$/],
    ['lower()', 'lower takes 1 and not 0 arguments @1:1'],
    ['any([1])', 'any() takes a list and what to ask of each item, which is `#` @1:1'],
    ['# + 1', '`#` is allowed only in the bodies of any, all, filter and map @1:1'],
    ['any(#, true)', '`#` is allowed only in the bodies of any, all, filter and map @1:5'],
    ['true and x matches "a("', 'the pattern is not of the RE2 class: missing closing ): `a(` @1:20'],
    ['x.matches("(?=a)")', /^the pattern is not of the RE2 class: .* @1:11$/],
    ['x matches "\\\\Qa"', /^the pattern quotes with \\Q.* @1:11$/],
    ['9007199254740993', 'the number is too large to be exact @1:1'],
    ['1u', 'write the number without `u` @1:1'],
    ['${a} b', 'nothing may follow `}`: text with templates inside is no expression @1:5'],
    ['${a', 'the template is never closed: `}` is missing @1:3'],
    ['a.?b', '`?` is not expected here @1:3'],
  ])('the fault of %j', (source, fault) => {
    if (typeof fault === 'string') expect(getFault(source)).toBe(fault);
    else expect(getFault(source)).toMatch(fault);
  });

  it.each([
    ['1 / 0', 'the number is too large, or was divided by zero (line 1, column 1)'],
    ['1 % 0', 'the number is too large, or was divided by zero (line 1, column 1)'],
    ['10 ** 400', 'the number is too large, or was divided by zero (line 1, column 1)'],
    ['1 +\n ("a" * 2)', 'cannot multiply text and a number (line 2, column 3)'],
    ['input.missing > 3', 'cannot compare nil and a number (line 1, column 1)'],
    ['"a" + 1', 'cannot add text and a number (line 1, column 1)'],
    ['true and -"a" == 1', 'cannot take the negative of text (line 1, column 10)'],
    ['1 in 2', '`in` searches a list, a map or text, not a number (line 1, column 1)'],
    ['1 contains 2', '`contains` compares texts, not a number and a number (line 1, column 1)'],
    ['"a" matches item + "("', 'the pattern is not of the RE2 class: missing closing ): `it(` (line 1, column 1)'],
    ['1 + int("4x")', 'the text is not a number (line 1, column 5)'],
    ['lower([1])', 'lower() takes text, not a list (line 1, column 1)'],
    ['map("abc", #)', 'map works on the items of a list, not of text (line 1, column 1)'],
    ['{(input.tags): 1}', 'a key of a map must be text, not a list (line 1, column 1)'],
  ])('the failure of %j', (source, message) => {
    expect(() => expression(source).evaluate(scope)).toThrow(new EvaluationError(message));
  });

  it('now() is unknown to a scope without a clock', () => {
    expect(() => evaluateSource('now()')).toThrow('now() is not known here');
  });
});

describe('expressions: references', () => {
  it.each([
    ['steps.weigh.output > 1 and steps["tally"].status == "x"', ['weigh', 'tally'], ['steps']],
    ['steps[input.which].output', ['*'], ['steps', 'input']],
    ['length(steps)', ['*'], ['steps']],
    ['map(ctx.list, #.steps.weigh + item)', [], ['ctx', 'item']],
    ['ctx.list.map(steps, steps.weigh)', [], ['ctx']],
    ['has(steps.weigh.output)', ['weigh'], ['steps']],
    ['loop.index + child.x', [], ['loop', 'child']],
    ['steps contains "a"', ['*'], ['steps']],
  ])('%s', (source, stepsRead, names) => {
    const made = expression(source);

    expect(made.stepsRead).toEqual(stepsRead);
    expect(made.names).toEqual(names);
  });
});

describe('truthiness', () => {
  it.each([null, undefined, false, '', 0, [], {}])('%j is false', (value) => {
    expect(isTruthy(value)).toBe(false);
    expect(evaluateSource('not value', { value })).toBe(true);
  });

  it.each([true, 'a', 'false', 1, -1, [0], { a: null }])('%j is true', (value) => {
    expect(isTruthy(value)).toBe(true);
    expect(evaluateSource('value ? true : false', { value })).toBe(true);
  });
});
