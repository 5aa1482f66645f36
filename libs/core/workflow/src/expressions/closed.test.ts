import { compileExpression } from './compile-expression';
import { defaultExpressionLimits } from './expression';
import { expression, getFault, rendered, template, evaluateSource } from './expressions.testing';

describe('expressions are closed', () => {
  const scope = {
    input: JSON.parse('{"__proto__": {"x": 1}, "constructor": 2, "prototype": 3, "list": [1], "text": "t"}') as unknown,
    call: () => 'called',
    host: { run: () => 'ran' },
    made: Object.create({ inherited: 1 }) as unknown,
  };

  it.each([
    'input.__proto__',
    'input.__proto__.x',
    'input["__proto__"]',
    'input["__pro" + "to__"]',
    'input.constructor',
    'input["constructor"]',
    'input.prototype',
    'input.toString',
    'input.hasOwnProperty',
    'input.list.constructor',
    'input.list.length',
    'input.list["length"]',
    'input.list["0"]',
    'input.list.push',
    'input.text.constructor',
    'input.text["length"]',
    'constructor',
    '__proto__',
    'prototype',
    'toString',
    'globalThis',
    'process',
    'call',
    'host.run',
    'made.inherited',
    '{a: 1}.constructor',
    '[].constructor.constructor',
  ])('%s is nil', (source) => {
    expect(evaluateSource(source, scope)).toBeUndefined();
  });

  it.each(['call()', 'host.run()', 'input.toString()', 'constructor("a")', '__proto__()', 'toString()', 'valueOf(1)'])(
    '%s is no function',
    (source) => {
      expect(getFault(source)).toContain('there is no function');
    },
  );

  it.each(['__coalesce', '__power', '__n_loop'])('the internal name %s is a plain name for an author', (word) => {
    expect(getFault(`a.${word}(1)`)).toContain(`there is no function ${word}`);
    expect(evaluateSource(word, { [word]: 5 })).toBe(5);
    expect(evaluateSource(`a.${word}`, { a: { [word]: 6 } })).toBe(6);
  });

  it('a variable named __item is not the item', () => {
    expect(evaluateSource('map([1, 2], __item)', { __item: 9 })).toEqual([9, 9]);
    expect(() => evaluateSource('1 in __contains(2)')).toThrow();
  });

  it('JavaScript internals are neither keys nor members', () => {
    expect(getFault('{__proto__: {a: 1}}')).toBe('`__proto__` cannot be a key of a map @1:2');
    expect(getFault('{"constructor": 1}')).toContain('cannot be a key');
    expect(() => evaluateSource('{("__pro" + "to__"): {polluted: 1}}')).toThrow('`__proto__` cannot be a key of a map');
    expect(evaluateSource('keys(input)', scope)).toEqual(['list', 'text']);
    expect(evaluateSource('"__proto__" in input', scope)).toBe(false);
  });

  it('a template with the key __proto__ changes no prototype', () => {
    const value = JSON.parse('{"__proto__": {"polluted": "${1}"}, "a": "${1}"}') as unknown;

    const made = rendered(value) as object;

    expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(made).not.toHaveProperty('polluted');
  });

  it('evaluation changes nothing in the scope and keeps no state', () => {
    const frozen = Object.freeze({ list: Object.freeze([3, 1]) });
    const made = expression('map(list, map(list, # + 1)) + [list] + list');

    expect(made.evaluate(frozen)).toEqual([[4, 2], [4, 2], [3, 1], 3, 1]);
    expect(made.evaluate(frozen)).toEqual([[4, 2], [4, 2], [3, 1], 3, 1]);
  }); // prettier-ignore
});

describe('expressions are bounded', () => {
  const list = Array.from({ length: 1_000 }, (_, i) => i);
  const text = 'a'.repeat(1_000_000);
  const nested = (times: number, verb: string): string =>
    times === 0 ? '#' : `${verb}(list, ${nested(times - 1, verb)})`;

  it.each([
    ['nests of predicates', nested(20, 'map')],
    ['nests that find nothing', 'all(list, all(list, all(list, # < 0 or true)))'],
    ['nests of CEL macros', 'list.all(a, list.all(b, list.all(c, a + b + c >= 0)))'],
    ['maps of maps', 'any(list, any(list, {a: [#, #], b: {c: #}} == 1))'],
    ['comparing again and again', 'all(list, list + [#] == list + [#])'],
    ['texts that grow', 'any(list, text + text + string(#) == "")'],
    ['texts that are changed', 'any(list, upper(text) == "")'],
    ['texts that are counted', 'any(list, length(text) == 0)'],
    ['texts that are searched', 'any(list, text contains "b" + string(#))'],
    ['texts that are compared', 'any(list, text < text and false)'],
    ['data written out', 'any(list, string(list) == "")'],
    ['a pattern that would backtrack for ever', 'any(list, text matches "^(a+)+$" + "b")'],
    ['many patterns', 'any(list, text matches "b" + string(#))'],
    ['a pattern that grows', '"a" matches ("(a|b|c|d){" + "1000}x{1000}y{1000}z{1000}(e|f|g|h|i|j|k|l|m){1000}[a-z]{1000}" + "(" + "aaaaaaaaaaaaaaa" + "){1000}")'],
  ])('%s end within the steps', (_name, source) => {
    expect(() => evaluateSource(source, { list, text })).toThrow(/takes too many steps/);
  }); // prettier-ignore

  it('the step limit follows the time limit', () => {
    const source = 'all(list, # >= 0)';

    expect(expression(source).evaluate({ list })).toBe(true);
    expect(() => expression(source, { ...defaultExpressionLimits, timeoutMs: 0.1 }).evaluate({ list })).toThrow(
      'the evaluation takes too many steps',
    );
  });

  it('a pattern that would backtrack forever terminates', () => {
    expect(evaluateSource('text matches "^(a+)+$"', { text: `${'a'.repeat(1_000)}b` })).toBe(false);
    expect(getFault(`x matches "${'(a{1000})b{1000}'.repeat(60)}"`)).toContain('takes too many steps to prepare');
    expect(getFault(`x matches "${'a'.repeat(1_025)}"`)).toContain('longer than 1024');
  });

  it('result items are counted, including nested ones', () => {
    const limits = { ...defaultExpressionLimits, maxResultItems: 12 };
    const rows = [[1, 2, 3], { a: 1, b: [1, 2] }];

    expect(expression('rows', limits).evaluate({ rows })).toBe(rows);
    expect(expression('length(rows + rows)', limits).evaluate({ rows })).toBe(4);
    expect(() => expression('rows + rows', limits).evaluate({ rows })).toThrow('the result has more than 12 items');
    expect(() => template({ a: 'x', b: '${rows + rows}' }, limits).render({ rows })).toThrow('more than 12 items');
  });

  it.each([
    ['brackets', '('.repeat(2_000) + '1' + ')'.repeat(2_000)],
    ['lists', '['.repeat(2_000) + ']'.repeat(2_000)],
    ['negations', `${'!'.repeat(4_000)}1`],
    ['members', `a${'[0]'.repeat(1_300)}`],
    ['sums', `1${'+1'.repeat(2_000)}`],
    ['choices', `a${'?1:a'.repeat(1_000)}`],
    ['powers', `2${'**2'.repeat(1_300)}`],
    ['fallbacks', `a${' ?? a'.repeat(800)}`],
    ['calls', `${'len('.repeat(800)}1${')'.repeat(800)}`],
  ])('huge nests of %s are a fault', (_name, source) => {
    expect(getFault(source)).toContain('the expression is nested too deeply');
  });

  it('excessive nesting is a fault', () => {
    const limits = { ...defaultExpressionLimits, maxLength: 1_000_000 };

    expect(getFault(`${'!'.repeat(100_000)}1`, limits)).toContain('nested too deeply');
    expect(getFault('a'.repeat(4_097))).toBe('the expression is longer than 4096 characters @1:1');
    expect(compileExpression(`"${'a'.repeat(4_094)}"`).kind).toBe('ok');
  });

  it('cyclic data is rejected wherever it is traversed', () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    const twin: Record<string, unknown> = {};
    twin['self'] = twin;

    for (const source of ['loop', 'string(loop)', 'loop == twin']) {
      expect(() => evaluateSource(source, { loop, twin })).toThrow('the data is nested too deeply');
    }
  });
});
