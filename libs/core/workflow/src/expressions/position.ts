import type { ExpressionFault } from './expression';

/** A fault by offset; converted to line and column at the end. */
export interface OffsetFault {
  kind: 'bad';
  message: string;
  offset: number;
}

export const badAt = (offset: number, message: string): OffsetFault => ({ kind: 'bad', message, offset });

/** Line and column of an offset, both from 1; a column is a UTF-16 unit, as editors count. */
export function positionAt(source: string, offset: number): { line: number; column: number } {
  const lines = source.slice(0, offset).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

export const faultAt = (source: string, { message, offset }: OffsetFault): ExpressionFault => ({
  message,
  ...positionAt(source, offset),
});
