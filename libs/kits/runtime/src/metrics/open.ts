import client from 'prom-client';
import { withTimeout } from '../with-timeout';
import { metrics, type Handles, type Metric, type Metrics } from './declare';

/** A process's metrics. */
export interface OpenMetrics<T extends Metrics> {
  metrics: Handles<T>;
  /** Reads gauges at each scrape. A gauge that fails keeps its last values and is counted; the scrape continues. */
  onScrape(read: () => void | Promise<void>): void;
  contentType: string;
  /** The text of `/metrics`. */
  text(): Promise<string>;
}

const scrapeTable = metrics({
  failures: { name: 'svc_scrape_failures_total', type: 'counter', help: 'Gauges that could not be read for a scrape.' },
});
const scrapeLimitMs = 1_000;

/**
 * Registers every metric of the tables with the constant label `pod`, and the Node process's own (`process_*`,
 * `nodejs_*`). Series of closed labels are created at zero, so that rates work from the first event.
 */
export function openMetrics<T extends Metrics>(table: T, { pod }: { pod: string }): OpenMetrics<T> {
  const registry = new client.Registry();
  registry.setDefaultLabels({ pod });
  client.collectDefaultMetrics({ register: registry });
  const own = register(scrapeTable, registry);
  const reads: (() => void | Promise<void>)[] = [];
  return {
    metrics: register(table, registry),
    onScrape: (read) => void reads.push(read),
    contentType: registry.contentType,
    async text() {
      const readings = await Promise.allSettled(
        reads.map((read) => withTimeout((async () => read())(), scrapeLimitMs)),
      );
      for (const { status } of readings) if (status === 'rejected') own.failures.inc();
      return registry.metrics();
    },
  };
}

function register<T extends Metrics>(table: T, registry: client.Registry): Handles<T> {
  const handles = Object.entries(table).map(([key, metric]) => [key, createHandle(metric, registry)]);
  return Object.fromEntries(handles) as Handles<T>; // each handle was made from the metric of its key
}

type Labels = Record<string, string>;
type Args = readonly [] | readonly [number] | readonly [Labels, number?];

/** Splits `(labels?, number?)`, the arguments of every handle. */
function split(args: Args): { labels: Labels; amount: number | undefined } {
  const [first, second] = args;
  return typeof first === 'object' ? { labels: first, amount: second } : { labels: {}, amount: first };
}

function createHandle(metric: Metric, registry: client.Registry) {
  const config = {
    name: metric.name,
    help: metric.help,
    labelNames: [...(metric.labels ?? [])],
    registers: [registry],
  };
  const atStart = closedSeries(metric);
  switch (metric.type) {
    case 'counter': {
      const counter = new client.Counter(config);
      for (const labels of atStart) counter.inc(labels, 0);
      return {
        inc(...args: Args) {
          const { labels, amount = 1 } = split(args);
          counter.inc(labels, amount);
        },
      };
    }
    case 'gauge': {
      const gauge = new client.Gauge(config);
      const zero = () => atStart.forEach((labels) => gauge.set(labels, 0));
      zero();
      return {
        set(...args: Args) {
          const { labels, amount = 0 } = split(args);
          gauge.set(labels, amount);
        },
        inc(...args: Args) {
          const { labels, amount = 1 } = split(args);
          gauge.inc(labels, amount);
        },
        dec(...args: Args) {
          const { labels, amount = 1 } = split(args);
          gauge.dec(labels, amount);
        },
        replace(series: readonly { labels?: Labels; value: number }[]) {
          gauge.reset();
          zero();
          for (const { labels, value } of series) gauge.set(labels ?? {}, value);
        },
      };
    }
    case 'histogram': {
      const histogram = new client.Histogram({ ...config, ...(metric.buckets && { buckets: [...metric.buckets] }) });
      for (const labels of atStart) histogram.zero(labels);
      return {
        observe(...args: Args) {
          const { labels, amount = 0 } = split(args);
          histogram.observe(labels, amount);
        },
      };
    }
  }
}

/** Every combination of a metric's labels when all of them are closed; one empty combination when it has none. */
function closedSeries({ labels = [], labelValues = {} }: Metric): Labels[] {
  return labels.reduce<Labels[]>(
    (series, label) =>
      series.flatMap((known) => (labelValues[label] ?? []).map((value) => ({ ...known, [label]: value }))),
    [{}],
  );
}
