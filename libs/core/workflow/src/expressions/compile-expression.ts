import { compileTokens, tooLong } from './compile-tokens';
import {
  defaultExpressionLimits,
  type Expression,
  type ExpressionFault,
  type ExpressionLimits,
  type Scope,
} from './expression';
import { badAt, faultAt, type OffsetFault } from './position';
import { References } from './references';
import { newState } from './state';
import { tokenize, type Token } from './tokens';

/**
 * Compiles an expression, bare or wrapped as a whole in `${...}`: CEL, with the older spellings.
 *
 * Time is bounded by counting steps, as no timer can interrupt: see `spend`. The source is bounded by its length, the
 * result by its items. The value may share parts with the scope: do not modify it. Absent is undefined, nil is null.
 */
export function compileExpression(
  source: string,
  limits: ExpressionLimits = defaultExpressionLimits,
): { kind: 'ok'; expression: Expression } | { kind: 'bad'; fault: ExpressionFault } {
  const bad = (fault: OffsetFault) => ({ kind: 'bad' as const, fault: faultAt(source, fault) });
  if (source.length > limits.maxLength) return bad(tooLong(0, limits));
  const tokens = readTokens(source);
  if (!Array.isArray(tokens)) return bad(tokens);
  const references = new References();
  const program = compileTokens(source, tokens, references, limits);
  if (program.kind === 'bad') return bad(program);
  const { stepsRead, names } = references;
  const evaluate = (scope: Scope) => program.run(newState(scope, limits.timeoutMs));
  return { kind: 'ok', expression: { source, stepsRead, names, evaluate } };
}

/** Tokens inside `${...}`, or of the whole source. */
function readTokens(source: string): Token[] | OffsetFault {
  const start = source.length - source.trimStart().length;
  const isWrapped = source.startsWith('${', start);
  const read = tokenize(source, isWrapped ? start + 2 : 0, isWrapped ? 'brace' : 'end');
  if (read.kind === 'bad') return read;
  const rest = isWrapped ? read.end + 1 : read.end;
  if (source.slice(rest).trim() === '') return read.tokens;
  return badAt(rest, 'nothing may follow `}`: text with templates inside is no expression');
}
