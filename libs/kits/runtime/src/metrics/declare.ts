interface Declared {
  /** Full Prometheus name. */
  name: string;
  help: string;
  /** Bounded sets only: never an id, a path or free text. */
  labels?: readonly string[];
}

/** One metric. `labelValues` closes a label: its series exist from the start, and no other value compiles. */
export type Metric =
  | (Declared & { type: 'counter'; labelValues?: Readonly<Record<string, readonly string[]>> })
  | (Declared & { type: 'gauge'; labelValues?: Readonly<Record<string, readonly string[]>> })
  | (Declared & {
      type: 'histogram';
      buckets?: readonly number[];
      labelValues?: Readonly<Record<string, readonly string[]>>;
    });

export type Metrics = Record<string, Metric>;

type Closed<M extends Metric, Label extends string> = M extends {
  labelValues: Readonly<Record<Label, readonly (infer Value)[]>>;
}
  ? Value
  : string;
/** The labels of one series of a metric. */
export type LabelsOf<M extends Metric> = M extends { labels: readonly (infer Label extends string)[] }
  ? { [L in Label]: Closed<M, L> }
  : undefined;

/** Labels first, when the metric has any. */
type Labelled<M extends Metric> = LabelsOf<M> extends undefined ? [] : [labels: LabelsOf<M>];

export interface Counter<M extends Metric> {
  inc(...args: [...Labelled<M>, by?: number]): void;
}
export interface Gauge<M extends Metric> {
  set(...args: [...Labelled<M>, value: number]): void;
  inc(...args: [...Labelled<M>, by?: number]): void;
  dec(...args: [...Labelled<M>, by?: number]): void;
  /** Sets these series and removes all others, so that stale series disappear. */
  replace(series: readonly { labels: LabelsOf<M>; value: number }[]): void;
}
export interface Histogram<M extends Metric> {
  /** Seconds, where the metric's name says so. */
  observe(...args: [...Labelled<M>, value: number]): void;
}

/** Handles of a table: one per metric, typed by its labels. */
export type Handles<T extends Metrics> = {
  readonly [K in keyof T]: T[K]['type'] extends 'counter'
    ? Counter<T[K]>
    : T[K]['type'] extends 'gauge'
      ? Gauge<T[K]>
      : Histogram<T[K]>;
};

/** A table of metrics. */
export const metrics = <const T extends Metrics>(table: T): T => table;

/** A Markdown table of metrics for docs/operations.md. */
export function metricsTable(table: Metrics): string {
  const rows = Object.values(table).map(
    ({ name, type, labels = [], help }) => `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help} |`,
  );
  return ['| Metric | Type | Labels | Meaning |', '|---|---|---|---|', ...rows].join('\n');
}
