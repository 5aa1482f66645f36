import type { ASTNode } from '@marcbachmann/cel-js';
import { both, MeaningFault, type Compiler, type Run } from './compiler';
import { EvaluationError } from './expression';
import { compilePattern, matchPattern } from './patterns';

/** A literal pattern is compiled, and rejected if invalid, at compile time. */
export function compileMatch(compiler: Compiler, at: number, text: ASTNode, source: ASTNode & { op: 'value' }): Run {
  const textRun = compiler.compile(text);
  if (typeof source.args !== 'string') throw new MeaningFault('a pattern is text', source.start);
  try {
    const pattern = compilePattern(compiler.payer, source.args);
    return both(
      at,
      textRun,
      () => undefined,
      (state, value) => matchPattern(state, value, pattern),
    );
  } catch (error) {
    throw error instanceof EvaluationError ? new MeaningFault(error.message, source.start) : error;
  }
}
