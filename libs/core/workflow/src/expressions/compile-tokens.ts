import { newCompiler } from './compile-node';
import { MeaningFault, type Run } from './compiler';
import { EvaluationError, type ExpressionLimits } from './expression';
import { parseCel } from './parse-cel';
import { badAt, positionAt, type OffsetFault } from './position';
import type { References } from './references';
import { newState, type State } from './state';
import type { Token } from './tokens';
import { measure } from './values';

/** A program that runs within an evaluation already accounted for, as a template's parts do. */
export interface Program {
  kind: 'ok';
  /** @throws EvaluationError with the position */
  run: Run;
}

export const tooLong = (offset: number, { maxLength }: ExpressionLimits) =>
  badAt(offset, `the expression is longer than ${maxLength} characters`);

/** @param references receives the names that the expression reads */
export function compileTokens(
  source: string,
  tokens: readonly Token[],
  references: References,
  limits: ExpressionLimits,
): Program | OffsetFault {
  const parsed = parseCel(tokens);
  if (parsed.kind === 'bad') return parsed;
  const { sourceOffset } = parsed.text;
  const compiler = newCompiler(newState({}, limits.timeoutMs), references);
  try {
    const run = compiler.compile(parsed.ast);
    return { kind: 'ok', run: bounded(run, limits, (celOffset) => positionAt(source, sourceOffset(celOffset))) };
  } catch (error) {
    if (error instanceof MeaningFault) return badAt(sourceOffset(error.celOffset), error.message);
    throw error;
  }
}

/** Measures the result and adds the source position to failures. */
function bounded(
  run: Run,
  { maxResultItems }: ExpressionLimits,
  placeOf: (celOffset: number) => { line: number; column: number },
): Run {
  return (state: State) => {
    try {
      const value = run(state);
      state.at = 0;
      measure(state, value, maxResultItems);
      return value;
    } catch (error) {
      if (!(error instanceof EvaluationError)) throw error;
      const { line, column } = placeOf(state.at);
      throw new EvaluationError(`${error.message} (line ${line}, column ${column})`);
    }
  };
}
