import type { ASTNode } from '@marcbachmann/cel-js';
import { compileMatch } from './compile-match';
import { MeaningFault, type Compiler, type Run } from './compiler';
import { builtins } from './functions';
import { power } from './operators';
import { compilePredicate, predicates } from './predicates';
import { spend } from './state';
import { authorName, own } from './to-cel';
import { isNil } from './values';

/** `name(a, b)`. */
export function compileCall(compiler: Compiler, { args: [celName, nodes], start }: ASTNode & { op: 'call' }): Run {
  const name = authorName(celName);
  const [first, second, ...more] = nodes;
  if (name === 'has' && first && !second) return compileHas(compiler, first);
  if (Object.hasOwn(predicates, name)) {
    if (!first || !second || more.length > 0) {
      throw new MeaningFault(`${name}() takes a list and what to ask of each item, which is \`#\``, start);
    }
    return compilePredicate(compiler, { name, start, list: first, variable: own.item, body: second });
  }
  return compileBuiltin(compiler, name, nodes, start);
}

/** `receiver.name(a, b)`: CEL's macros with a named variable, and any function with its first argument in front. */
export function compileMethod(compiler: Compiler, node: ASTNode & { op: 'rcall' }): Run {
  const [celName, receiver, nodes] = node.args;
  const { start } = node;
  const [first, second, third] = nodes;
  if (celName === own.coalesce && first) return compileCoalesce(compiler, receiver, first);
  if (celName === own.power && first) return compilePower(compiler, start, receiver, first);
  const name = authorName(celName);
  if (!Object.hasOwn(predicates, name)) return compileBuiltin(compiler, name, [receiver, ...nodes], start);
  if (first && !second)
    return compilePredicate(compiler, { name, start, list: receiver, variable: own.item, body: first });
  if (!first || !second || first.op !== 'id') {
    throw new MeaningFault(`.${name}() takes the name of an item and what to ask of it`, start);
  }
  const variable = first.args;
  if (third && name === 'map') {
    return compilePredicate(compiler, { name, start, list: receiver, variable, condition: second, body: third });
  }
  return compilePredicate(compiler, { name, start, list: receiver, variable, body: second });
}

/** Whether the member is there, even if it is nil. */
function compileHas(compiler: Compiler, node: ASTNode): Run {
  const run = compiler.compile(node);
  return (state) => run(state) !== undefined;
}

function compileCoalesce(compiler: Compiler, leftNode: ASTNode, rightNode: ASTNode): Run {
  const left = compiler.compile(leftNode);
  const right = compiler.compile(rightNode);
  return (state) => {
    spend(state, 1);
    const value = left(state);
    return isNil(value) ? right(state) : value;
  };
}

function compilePower(compiler: Compiler, at: number, baseNode: ASTNode, exponentNode: ASTNode): Run {
  const base = compiler.compile(baseNode);
  const exponent = compiler.compile(exponentNode);
  return (state) => {
    spend(state, 1);
    const a = base(state);
    const b = exponent(state);
    state.at = at;
    return power(state, a, b);
  };
}

function compileBuiltin(compiler: Compiler, name: string, nodes: readonly ASTNode[], at: number): Run {
  const builtin = Object.hasOwn(builtins, name) ? builtins[name] : undefined;
  if (!builtin) {
    const known = [...Object.keys(builtins), ...Object.keys(predicates), 'has'].join(', ');
    throw new MeaningFault(`there is no function ${name}; there are ${known}`, at);
  }
  if (nodes.length !== builtin.arity) {
    throw new MeaningFault(`${name} takes ${builtin.arity} and not ${nodes.length} arguments`, at);
  }
  const [text, pattern] = nodes;
  if (name === 'matches' && text && pattern?.op === 'value') return compileMatch(compiler, at, text, pattern);
  const args = nodes.map((node) => compiler.compile(node));
  return (state) => {
    spend(state, 1);
    const values = args.map((run) => run(state));
    state.at = at;
    return builtin.run(state, ...values);
  };
}
