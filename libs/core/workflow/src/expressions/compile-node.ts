import type { ASTNode } from '@marcbachmann/cel-js';
import { compileCall, compileMethod } from './compile-call';
import { compileMatch } from './compile-match';
import { both, MeaningFault, type Both, type Compiler, type Run } from './compiler';
import { isTruthy } from './expression';
import { binaryOperators, contains, endsWith, isIn, negate, startsWith } from './operators';
import { tooDeep } from './parse-cel';
import { matches } from './patterns';
import type { References } from './references';
import { spend, type Payer } from './state';
import { authorName, own } from './to-cel';
import { getEntry, isHidden, getMember, setEntry } from './values';

/** Compilation is recursive: deeper trees could exhaust the stack. */
const maxDepth = 1_000;

/** @param payer step budget for literal patterns */
export function newCompiler(payer: Payer, references: References): Compiler {
  let depth = 0;
  const compiler: Compiler = {
    references,
    payer,
    locals: [],
    compile(node) {
      depth += 1;
      if (depth > maxDepth) throw new MeaningFault(tooDeep, node.start);
      const run = compileKind(compiler, node);
      depth -= 1;
      return run;
    },
  };
  return compiler;
}

function compileKind(compiler: Compiler, node: ASTNode): Run {
  switch (node.op) {
    case 'value':
      return constant(literal(node));
    case 'id':
      return compileName(compiler, node.args, node.start);
    case '.':
      return compileAccess(compiler, node.args[0], node.args[1]);
    case '[]':
      return compileAccess(compiler, node.args[0], node.args[1]);
    case '!_':
      return negation(compiler.compile(node.args));
    case '-_':
      return negative(node.start, compiler.compile(node.args));
    case '&&':
    case '||':
      return compileLogic(compiler, node.op, node.args);
    case '?:':
      return compileChoice(compiler, node.args);
    case 'list':
      return compileList(compiler, node.args);
    case 'map':
      return compileMap(compiler, node.start, node.args);
    case 'call':
      return compileCall(compiler, node);
    case 'rcall':
      return compileMethod(compiler, node);
    case 'in':
      return compileIn(compiler, node.start, node.args[0], node.args[1]);
    case '.?':
    case '[?]':
      throw new MeaningFault('`?` after a dot is not needed: what is missing is nil', node.start);
    default:
      return compileBinary(compiler, node.op, node.start, node.args);
  }
}

type Pair = readonly [ASTNode, ASTNode];

const constant = (value: unknown) => () => value;

function literal({ args, start }: ASTNode & { op: 'value' }): unknown {
  if (typeof args === 'bigint') {
    if (args > Number.MAX_SAFE_INTEGER) throw new MeaningFault('the number is too large to be exact', start);
    return Number(args);
  }
  if (typeof args === 'object' && args !== null) throw new MeaningFault('write the number without `u`', start);
  return args;
}

function compileName(compiler: Compiler, celName: string, start: number): Run {
  const slot = compiler.locals.lastIndexOf(celName);
  if (slot !== -1) return ({ slots }) => slots[slot];
  if (celName === own.item)
    throw new MeaningFault('`#` is allowed only in the bodies of any, all, filter and map', start);
  const name = authorName(celName);
  compiler.references.name(name);
  if (name === 'steps') compiler.references.step(undefined);
  return ({ scope }) => getEntry(scope, name);
}

function compileAccess(compiler: Compiler, receiver: ASTNode, key: ASTNode | string): Run {
  const readsSteps = receiver.op === 'id' && receiver.args === 'steps' && !compiler.locals.includes('steps');
  const fixedKey = typeof key === 'string' ? key : key.op === 'value' ? literal(key) : undefined;
  if (readsSteps) {
    compiler.references.name('steps');
    compiler.references.step(typeof fixedKey === 'string' ? fixedKey : undefined);
  }
  const from: Run = readsSteps ? ({ scope }) => getEntry(scope, 'steps') : compiler.compile(receiver);
  const keyRun = typeof key === 'string' ? constant(key) : compiler.compile(key);
  return (state) => {
    spend(state, 1);
    return getMember(from(state), keyRun(state));
  };
}

const negation = (run: Run): Run => {
  return (state) => {
    spend(state, 1);
    return !isTruthy(run(state));
  };
};

const negative = (at: number, run: Run): Run => {
  return (state) => {
    spend(state, 1);
    const value = run(state);
    state.at = at;
    return negate(value);
  };
};

function compileLogic(compiler: Compiler, op: '&&' | '||', [leftNode, rightNode]: Pair): Run {
  const left = compiler.compile(leftNode);
  const right = compiler.compile(rightNode);
  const decided = op === '||';
  return (state) => {
    spend(state, 1);
    return isTruthy(left(state)) === decided ? decided : isTruthy(right(state));
  };
}

function compileChoice(compiler: Compiler, nodes: readonly [ASTNode, ASTNode, ASTNode]): Run {
  const condition = compiler.compile(nodes[0]);
  const chosen = compiler.compile(nodes[1]);
  const otherwise = compiler.compile(nodes[2]);
  return (state) => {
    spend(state, 1);
    return isTruthy(condition(state)) ? chosen(state) : otherwise(state);
  };
}

function compileList(compiler: Compiler, nodes: readonly ASTNode[]): Run {
  const items = nodes.map((item) => compiler.compile(item));
  return (state) => {
    spend(state, 1 + items.length);
    return items.map((item) => item(state) ?? null);
  };
}

function compileMap(compiler: Compiler, at: number, nodes: readonly Pair[]): Run {
  for (const [key] of nodes) {
    if (key.op === 'value' && isHidden(key.args)) {
      throw new MeaningFault(`\`${String(key.args)}\` cannot be a key of a map`, key.start);
    }
  }
  const entries = nodes.map(([key, value]): [Run, Run] => [compiler.compile(key), compiler.compile(value)]);
  return (state) => {
    spend(state, 1 + entries.length);
    const map: Record<string, unknown> = {};
    for (const [keyRun, valueRun] of entries) {
      const key = keyRun(state);
      const value = valueRun(state);
      state.at = at;
      setEntry(state, map, key, value);
    }
    return map;
  };
}

function compileBinary(compiler: Compiler, op: string, at: number, [left, right]: Pair): Run {
  const apply = binaryOperators[op];
  if (!apply) throw new MeaningFault(`\`${op}\` is not an operator`, at);
  return both(at, compiler.compile(left), compiler.compile(right), apply);
}

const textOperators: Readonly<Record<string, Both>> = {
  [own.contains]: contains,
  [own.startsWith]: startsWith,
  [own.endsWith]: endsWith,
  [own.matches]: matches,
  [own.notIn]: (state, value, whole) => !isIn(state, value, whole),
};

/** `in`, and the operators that are generated as `a in __operator(b)`. */
function compileIn(compiler: Compiler, at: number, left: ASTNode, right: ASTNode): Run {
  const [name, [operand]] = right.op === 'call' ? right.args : ['', []];
  const apply = Object.hasOwn(textOperators, name) ? textOperators[name] : undefined;
  if (!apply || !operand) return both(at, compiler.compile(left), compiler.compile(right), isIn);
  if (name === own.matches && operand.op === 'value') return compileMatch(compiler, at, left, operand);
  return both(at, compiler.compile(left), compiler.compile(operand), apply);
}
