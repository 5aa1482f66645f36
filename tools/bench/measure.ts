import type { LimitName } from './limits';
import type { Session } from './session';

/** One row of the table: what is measured, against what, and how good it has to be. */
export interface Measure {
  name: string;
  unit: string;
  /** What the value is divided by. */
  limit?: { name: string; value(session: Session): Promise<number> };
  mark?: Mark;
  run(session: Session): Promise<number>;
}

export interface Mark {
  of: 'value' | 'ratio';
  atLeast?: number;
  atMost?: number;
}

/** Holds a value against what a part of the product does by itself on this machine. */
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

/** @returns undefined when there is no mark, or nothing to hold against it */
export function meets(mark: Mark | undefined, value: number, ratio: number | undefined): boolean | undefined {
  const held = mark?.of === 'ratio' ? ratio : value;
  if (!mark || held === undefined) return undefined;
  return held >= (mark.atLeast ?? -Infinity) && held <= (mark.atMost ?? Infinity);
}
