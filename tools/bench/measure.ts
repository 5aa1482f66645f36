import type { LimitName } from './limits';
import type { Session } from './session';

/** One row of the table: the measured value, its limit and its target. */
export interface Measure {
  name: string;
  unit: string;
  /** Divisor of the ratio. */
  limit?: { name: string; value(session: Session): Promise<number> };
  mark?: Mark;
  run(session: Session): Promise<number>;
}

export interface Mark {
  of: 'value' | 'ratio';
  atLeast?: number;
  atMost?: number;
}

/** Compares a value with a raw limit of this machine. */
export const rawLimit = (name: LimitName): NonNullable<Measure['limit']> => ({
  name,
  value: (session) => session.limit(name),
});

/** Bounds of the value itself, in its own unit. */
export const atLeast = (bound: number): Mark => ({ of: 'value', atLeast: bound });
export const atMost = (bound: number): Mark => ({ of: 'value', atMost: bound });
/** Bounds of the value divided by its limit. */
export const ratioAtLeast = (bound: number): Mark => ({ of: 'ratio', atLeast: bound });
export const ratioAtMost = (bound: number): Mark => ({ of: 'ratio', atMost: bound });

/** @returns undefined without a target, or without a ratio to compare */
export function meets(mark: Mark | undefined, value: number, ratio: number | undefined): boolean | undefined {
  const held = mark?.of === 'ratio' ? ratio : value;
  if (!mark || held === undefined) return undefined;
  return held >= (mark.atLeast ?? -Infinity) && held <= (mark.atMost ?? Infinity);
}
