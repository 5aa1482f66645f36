/** Label value of everything that is not registered. */
export const otherLabel = 'other';
const maxValues = 500;

/** Bounds a label: values that are not registered become `other`. */
export interface BoundedLabel {
  /** Replaces the registered values, for example when the topic registry changed. At most 500 are kept. */
  know(values: Iterable<string>): void;
  of(value: string): string;
}

/** The label `topic`: registered topics by name, all others as `other`. */
export function topicLabel(topics: Iterable<string> = []): BoundedLabel {
  let known = takeFirst(topics);
  return {
    know: (values) => {
      known = takeFirst(values);
    },
    of: (value) => (known.has(value) ? value : otherLabel),
  };
}

const takeFirst = (values: Iterable<string>) => new Set([...new Set(values)].slice(0, maxValues));
