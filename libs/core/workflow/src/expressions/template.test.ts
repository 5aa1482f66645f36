import fc from 'fast-check';
import { compileTemplate } from './compile-template';
import { defaultExpressionLimits } from './expression';
import { rendered, template } from './expressions.testing';

const scope = { input: { id: 'm-1', rush: true, crates: [1, 2], bay: { no: 4 }, none: null }, ctx: {} };

describe('templates', () => {
  it.each([
    ['${input.id}', 'm-1'],
    ['${input.crates}', [1, 2]],
    ['${ input.rush }', true],
    ['${input.none}', null],
    ['${input.missing}', undefined],
    ['manifest ${input.id}', 'manifest m-1'],
    [' ${input.rush}', ' true'],
    ['${input.id}${input.rush}', 'm-1true'],
    ['${input.bay} / ${input.crates} / ${1.5}', '{"no":4} / [1,2] / 1.5'],
    ['a${input.none}b${input.missing}c', 'abc'],
    ['${ {a: {b: "}"}}.a.b }', '}'],
    [`\${ '}' + "}" } and \${ {c: 1} }`, '}} and {"c":1}'],
    ['$${input.id}', '${input.id}'],
    ['$$${input.id}', '$${input.id}'],
    ['${input.id}$${x}', 'm-1${x}'],
    ['costs $5 {or more}', 'costs $5 {or more}'],
    ['', ''],
    [7, 7],
    [null, null],
  ])('%j reads %j', (value, result) => {
    expect(rendered(value, scope)).toEqual(result);
  });

  it('are found in nested maps and lists, and other values are kept', () => {
    const value = { a: [{ b: '${input.bay.no}', c: 1 }, '${input.id}!'], d: { e: null, f: [true] } };

    expect(rendered(value, scope)).toEqual({ a: [{ b: 4, c: 1 }, 'm-1!'], d: { e: null, f: [true] } });
  });

  it('drop map entries whose value is absent, keep nil, and leave no holes in lists', () => {
    const made = rendered(
      { a: '${input.missing}', b: '${nil}', c: ['${input.missing}'], d: { e: '${ctx.x.y}' } },
      scope,
    );

    expect(made).toStrictEqual({ b: null, c: [null], d: {} });
  });

  it('list their references', () => {
    const { stepsRead, names } = template({ a: 'x ${steps.weigh.output} ${item}', b: ['${steps["tally"].status}'] });

    expect(stepsRead).toEqual(['weigh', 'tally']);
    expect(names).toEqual(['steps', 'item']);
  });

  it('report every fault with path and position', () => {
    const made = compileTemplate({ a: ['ok', 'x ${1 +}'], 'b c': { d: '\n ${a ~ b}' }, e: '${open', f: '${}' });

    expect(made).toEqual({
      kind: 'bad',
      faults: [
        { path: 'a[1]', message: 'the expression ends too early', line: 1, column: 8 },
        { path: '["b c"].d', message: '`~` means nothing here', line: 2, column: 6 },
        { path: 'e', message: 'the template is never closed: `}` is missing', line: 1, column: 3 },
        { path: 'f', message: 'the expression is empty', line: 1, column: 3 },
      ],
    });
  });

  it('report a failure with its path', () => {
    expect(() => rendered({ a: [{ b: 'sum ${input.id + 1}' }] }, scope)).toThrow(
      'a[0].b: cannot add text and a number (line 1, column 7)',
    );
  });

  it('limit the length of each expression', () => {
    const limits = { ...defaultExpressionLimits, maxLength: 10 };

    expect(rendered('a text that is longer than ten ${1}')).toBe('a text that is longer than ten 1');
    expect(compileTemplate('${1 + 2 + 3 + 4}', limits)).toMatchObject({
      faults: [{ message: 'the expression is longer than 10 characters', column: 1 }],
    });
  });

  it('share one step limit, so that many expressions take no longer than one', () => {
    const limits = { ...defaultExpressionLimits, timeoutMs: 1 };
    const one = '${all(list, # >= 0)}';
    const list = Array.from({ length: 1_000 }, (_, i) => i);

    expect(template(one, limits).render({ list })).toBe(true);
    expect(() => template(Array(10).fill(one), limits).render({ list })).toThrow('takes too many steps');
  });

  it('reject excessive nesting', () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;

    expect(compileTemplate(loop)).toMatchObject({ faults: [{ message: 'the value is nested too deeply' }] });
  });
});

describe('templates of arbitrary values', () => {
  const noise = fc.string({ unit: fc.constantFrom('$', '{', '}', 'a', "'", '"', '\\', ' ') });

  it('an escaped text renders to itself', () => {
    fc.assert(fc.property(noise, (text) => rendered(text.replaceAll('${', () => '$${')) === text));
  });

  it('a text as an expression literal renders to itself, alone or between texts', () => {
    fc.assert(
      fc.property(noise, noise, (text, around) => {
        const literal = `\${ ${JSON.stringify(text)} }`;
        const escaped = around.replace(/\$+$/, '').replaceAll('${', () => '$${');
        const plain = around.replace(/\$+$/, '');
        expect(rendered(literal)).toBe(text);
        expect(rendered(`${escaped}${literal}${escaped}`)).toBe(`${plain}${text}${plain}`);
      }),
    );
  });

  it('any JSON read from the scope leaf by leaf renders to itself', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        const json: unknown = JSON.parse(JSON.stringify(value));
        // JavaScript internals are never readable: covered by the closedness tests.
        fc.pre(!/"(__proto__|constructor|prototype)"/.test(JSON.stringify(value)));
        expect(rendered(asReads(json, 'value'), { value: json })).toEqual(json);
      }),
    );
  });

  it('fail to compile only with faults that have a position', () => {
    fc.assert(
      fc.property(noise, (text) => {
        const made = compileTemplate({ text });
        if (made.kind === 'ok') return;
        for (const { line, column } of made.faults) {
          expect(line).toBe(1);
          expect(column).toBeGreaterThanOrEqual(1);
          expect(column).toBeLessThanOrEqual(text.length + 1);
        }
      }),
    );
  });
});

/** The same value with every leaf replaced by a template that reads it: `${value["a"][0]}`. */
function asReads(value: unknown, path: string): unknown {
  if (Array.isArray(value)) return value.map((item, i) => asReads(item, `${path}[${i}]`));
  if (typeof value !== 'object' || value === null) return `\${${path}}`;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, asReads(part, `${path}[${JSON.stringify(key)}]`)]),
  );
}
