import fc from 'fast-check';
import { hostileText, nested } from './fuzz';

/** Nesting that overflows the stack of a parser, and nesting that does not. */
const deep = 2_000;
const shallow = 300;

/** Documents that are known to break YAML parsers: alias bombs, cycles, depth, unknown tags, unusual keys. */
const nastyDocuments = [
  '', ' ', '---', '...', '---\n---\n', '\u0000', '\ufeff', '\ufeffa: 1', '%YAML 9.9\n---\na', '\t', 'a:\n\t- b', '!', '&', '*a', '&a', '? ', '- - -', '|', '>-', '"', "'", '{', '[', '@a', '`',
  '&a [*a]', '&a {b: *a}', 'rules: &r\n  - *r', 'topics: &t {job.a: *t}', '<<: *a', 'a: &a {<<: *a}', '<<: 1', 'a: *a',
  '? {a: 1}\n: b', '? [a]\n: b', '? *a\n: b', '&a a: 1\n*a : 2', 'a: 1\na: 2', '1: 2', 'true: x', 'null: x', '~: x', '.nan: .inf',
  '__proto__: {a: 1}', 'constructor: {prototype: {a: 1}}', 'rules: {__proto__: []}', '"__proto__": 1',
  '!!js/function "x"', '!!binary "####"', '!!set {a}', '!!omap [a: 1]', '!!timestamp 2001-99-99', '!!int "x"', '!!float zz', '!<tag:x> y', '!!map []', '!!seq {}', '!!null x', '!!merge <<',
  'a: 1e999', 'a: 0o777', 'a: 0xffffffffffffffffffff', 'a: -.inf', 'a: 2001-12-14t21:59:43.10-05:00', 'a: !!str', 'version: 1e400',
  `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [${'*a,'.repeat(9)}]\nc: &c [${'*b,'.repeat(9)}]\nd: &d [${'*c,'.repeat(9)}]\ne: &e [${'*d,'.repeat(9)}]\nf: [${'*e,'.repeat(9)}]`,
  nested(deep), nested(deep, '{a: ', '}'), `a: ${nested(deep)}`, nested(shallow), nested(shallow, '{a: ', '}'), nested(shallow, 'a: [', ']'), '? '.repeat(shallow), `a: &a [x]\n? ${'? '.repeat(shallow)}*a\n: b`,
  '['.repeat(deep), '{'.repeat(deep), '- '.repeat(deep), '? '.repeat(deep), `rules: ${nested(deep, '[{match: ', '}]')}`,
]; // prettier-ignore

const mutation = fc.record({
  kind: fc.constantFrom('delete', 'double', 'replace', 'insert', 'indent', 'swap'),
  from: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  lines: fc.integer({ min: 1, max: 4 }),
  text: fc.oneof(hostileText, fc.constantFrom(...nastyDocuments.filter(({ length }) => length < 80))),
});

/** Mutated valid documents, nasty documents and hostile text. */
export const hostileYaml = (samples: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(...nastyDocuments) },
    { weight: 1, arbitrary: hostileText },
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.constantFrom(...samples), fc.array(mutation, { minLength: 1, maxLength: 3 }))
        .map(([sample, mutations]) => mutations.reduce(mutate, sample)),
    },
  );

type Mutation = typeof mutation extends fc.Arbitrary<infer T> ? T : never;

/** Mutates lines or characters, to break structure or words. */
function mutate(text: string, { kind, from, lines, text: noise }: Mutation): string {
  if (kind === 'insert' || kind === 'replace') {
    const at = Math.floor(from * (text.length + 1));
    return text.slice(0, at) + noise + text.slice(kind === 'replace' ? at + lines * 4 : at);
  }
  const all = text.split('\n');
  const at = Math.floor(from * all.length);
  const [before, some, after] = [all.slice(0, at), all.slice(at, at + lines), all.slice(at + lines)];
  if (kind === 'delete') return [...before, ...after].join('\n');
  if (kind === 'double') return [...before, ...some, ...some, ...after].join('\n');
  if (kind === 'indent') return [...before, ...some.map((line) => ` ${line}`), ...after].join('\n');
  return [...before, ...some.reverse(), ...after].join('\n');
}

/** Every nasty document, for tests that must not skip one at random. */
export const eachNastyDocument: readonly string[] = nastyDocuments;
