import { type CheckOptions, type Compile, type Description, getLimit, type Typed, undecided } from './description';

/** Arrays whose items have one schema, or any. */
export function compileArray(
  { rules = [], items = [] }: Description,
  options: CheckOptions,
  compile: Compile,
): Typed | undefined {
  const [item, ...others] = items;
  if (others.length > 0 || item?.flags?.['presence'] !== undefined) return undefined;
  const bounds = rules.map((rule) => ({
    name: rule.name,
    limit: getLimit(rule),
    isPlain: Object.keys(rule).length === 2,
  }));
  if (bounds.some(({ name, limit, isPlain }) => limit === undefined || !isPlain || !lengths.has(name)))
    return undefined;
  const atLeast = Math.max(0, ...findLimits(bounds, 'min', 'length'));
  const atMost = Math.min(Infinity, ...findLimits(bounds, 'max', 'length'));
  const checkItem = item && compile(item, options);
  if (item && !checkItem) return undefined;
  return {
    check: (value) => {
      if (!Array.isArray(value) || value.length < atLeast || value.length > atMost) return undecided;
      if (!checkItem) return value;
      const checked: unknown[] = [];
      for (const sent of value as unknown[]) {
        const one = sent === undefined ? undecided : checkItem(sent);
        // Joi rejects an absent item.
        if (one === undecided || one === undefined) return undecided;
        checked.push(one);
      }
      return checked;
    },
  };
}

const lengths = new Set(['min', 'max', 'length']);

const findLimits = (bounds: readonly { name: string; limit: number | undefined }[], ...names: string[]): number[] =>
  bounds.flatMap(({ name, limit }) => (limit !== undefined && names.includes(name) ? [limit] : []));
