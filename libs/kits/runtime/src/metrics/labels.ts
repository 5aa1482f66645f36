/** What stands in a label for everything that is not known. */
export const otherLabel = 'other';
const maxValues = 500;

/** Keeps a label bounded: values that were not made known become `other`. */
export interface BoundedLabel {
  /** Replaces the known values, for example when the topic registry changed. At most 500 are kept. */
  know(values: Iterable<string>): void;
  of(value: string): string;
}

/** The label `topic`: registered topics by name, all others as `other`. */
export function topicLabel(topics: Iterable<string> = []): BoundedLabel {
  let known = firstOf(topics);
  return {
    know: (values) => {
      known = firstOf(values);
    },
    of: (value) => (known.has(value) ? value : otherLabel),
  };
}

const firstOf = (values: Iterable<string>) => new Set([...new Set(values)].slice(0, maxValues));
