import { compileTokens, tooLong } from './compile-tokens';
import type { Run } from './compiler';
import {
  defaultExpressionLimits,
  EvaluationError,
  type ExpressionFault,
  type ExpressionLimits,
  type Scope,
  type Template,
} from './expression';
import { faultAt, type OffsetFault } from './position';
import { References } from './references';
import { newState, spendChars, type State } from './state';
import { tokenize } from './tokens';
import { isList, isMapping, toText } from './values';

/** A fault, and the path of its text within the value: `input.crates[0].label`. */
export type TemplateFault = ExpressionFault & { path: string };

interface Compilation {
  references: References;
  limits: ExpressionLimits;
  faults: TemplateFault[];
}

const maxDepth = 200;

/**
 * Prepares a value with `${ expr }` in its strings, however deep. See docs/reference/workflows.md#expressions.
 *
 * A rendering is one evaluation: its expressions share the steps of `limits.timeoutMs`, while each result is counted
 * separately. Values without templates are returned as they are, not copied: do not modify them.
 */
export function compileTemplate(
  value: unknown,
  limits: ExpressionLimits = defaultExpressionLimits,
): { kind: 'ok'; template: Template } | { kind: 'bad'; faults: TemplateFault[] } {
  const compilation: Compilation = { references: new References(), limits, faults: [] };
  const run = compileValue(compilation, value, '', 0);
  if (compilation.faults.length > 0) return { kind: 'bad', faults: compilation.faults };
  const { stepsRead, names } = compilation.references;
  const render = (scope: Scope) => (run ? run(newState(scope, limits.timeoutMs)) : value);
  return { kind: 'ok', template: { stepsRead, names, render } };
}

/** @returns undefined when it contains no template */
function compileValue(compilation: Compilation, value: unknown, path: string, depth: number): Run | undefined {
  if (typeof value === 'string') return compileText(compilation, value, path);
  if (!isList(value) && !isMapping(value)) return undefined;
  if (depth > maxDepth) {
    compilation.faults.push({ path, message: 'the value is nested too deeply', line: 1, column: 1 });
    return undefined;
  }
  return isList(value)
    ? compileList(compilation, value, path, depth + 1)
    : compileMap(compilation, value, path, depth + 1);
}

function compileList(compilation: Compilation, list: readonly unknown[], path: string, depth: number): Run | undefined {
  const runs = list.map((item, i) => compileValue(compilation, item, `${path}[${i}]`, depth));
  if (runs.every((run) => run === undefined)) return undefined;
  return (state) => list.map((item, i) => runAt(runs[i], state, item) ?? null);
}

function compileMap(
  compilation: Compilation,
  map: Readonly<Record<string, unknown>>,
  path: string,
  depth: number,
): Run | undefined {
  const entries = Object.entries(map).map(([key, value]) => {
    return { key, value, run: compileValue(compilation, value, joinPath(path, key), depth) };
  });
  if (entries.every(({ run }) => run === undefined)) return undefined;
  return (state) => {
    const rendered = entries.map(({ key, value, run }): [string, unknown] => [key, runAt(run, state, value)]);
    // `fromEntries` makes every key the map's own, `__proto__` too.
    return Object.fromEntries(rendered.filter(([, value]) => value !== undefined));
  };
}

const runAt = (run: Run | undefined, state: State, value: unknown) => (run ? run(state) : value);

function joinPath(path: string, key: string): string {
  if (!/^[\p{L}\p{N}_-]+$/u.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

function compileText(compilation: Compilation, source: string, path: string): Run | undefined {
  if (!source.includes('${')) return undefined;
  const parts = readParts(compilation, source);
  if (!isList(parts)) {
    compilation.faults.push({ path, ...faultAt(source, parts) });
    return undefined;
  }
  const [first] = parts;
  const isWhole = parts.length === 1 && typeof first === 'function';
  const run = isWhole ? first : joined(parts);
  return (state) => {
    try {
      return run(state);
    } catch (error) {
      if (!(error instanceof EvaluationError) || path === '') throw error;
      throw new EvaluationError(`${path}: ${error.message}`);
    }
  };
}

const joined = (parts: readonly (string | Run)[]): Run => {
  return (state) => {
    const texts = parts.map((part) => (typeof part === 'string' ? part : toText(state, part(state))));
    spendChars(
      state,
      texts.reduce((sum, text) => sum + text.length, 0),
    );
    return texts.join('');
  };
};

/** Splits into literal texts and compiled expressions; `$${` is an escaped `${`. */
function readParts({ references, limits }: Compilation, source: string): (string | Run)[] | OffsetFault {
  const parts: (string | Run)[] = [];
  let literal = '';
  let at = 0;
  for (;;) {
    const sign = source.indexOf('${', at);
    if (sign === -1) break;
    if (sign > at && source[sign - 1] === '$') {
      literal += `${source.slice(at, sign - 1)}\${`;
      at = sign + 2;
      continue;
    }
    literal += source.slice(at, sign);
    if (literal) parts.push(literal);
    literal = '';
    const read = tokenize(source, sign + 2, 'brace');
    if (read.kind === 'bad') return read;
    if (read.end - sign > limits.maxLength) return tooLong(sign, limits);
    const program = compileTokens(source, read.tokens, references, limits);
    if (program.kind === 'bad') return program;
    parts.push(program.run);
    at = read.end + 1;
  }
  literal += source.slice(at);
  if (literal) parts.push(literal);
  return parts;
}
