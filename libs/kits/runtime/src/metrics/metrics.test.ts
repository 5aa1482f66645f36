import { metrics, metricsTable } from './declare';
import { gatewayMetrics } from './gateway';
import { kernelMetrics } from './kernel';
import { topicLabel } from './labels';
import { openMetrics } from './open';
import { schedulerMetrics } from './scheduler';
import { approvalMetrics, commonMetrics, dispatchMetrics } from './shared';

const tables = { schedulerMetrics, approvalMetrics, commonMetrics, dispatchMetrics, gatewayMetrics, kernelMetrics };
const sample = metrics({
  plain: { name: 'svc_plain_total', type: 'counter', help: 'Plain.' },
  closed: {
    name: 'svc_closed_total',
    type: 'counter',
    labels: ['outcome'],
    labelValues: { outcome: ['ok', 'error'] },
    help: 'Closed.',
  },
  open: { name: 'svc_open_total', type: 'counter', labels: ['topic'], help: 'Open.' },
  depth: { name: 'svc_depth', type: 'gauge', labels: ['queue'], help: 'Depth.' },
  wait: { name: 'svc_wait_seconds', type: 'histogram', labels: ['queue'], buckets: [1, 2], help: 'Wait.' },
});

async function seriesOf(opened: { text(): Promise<string> }, name: string) {
  const lines = (await opened.text()).split('\n');
  return lines.filter((line) => line.startsWith(`${name}{`)).map((line) => line.slice(name.length));
}

describe('openMetrics', () => {
  it('counts with labels, under the pod', async () => {
    const opened = openMetrics(sample, { pod: 'p1' });

    opened.metrics.plain.inc();
    opened.metrics.plain.inc(2);
    opened.metrics.open.inc({ topic: 'job.a' }, 4);

    expect(await seriesOf(opened, 'svc_plain_total')).toEqual(['{pod="p1"} 3']);
    expect(await seriesOf(opened, 'svc_open_total')).toEqual(['{topic="job.a",pod="p1"} 4']);
  });

  it('has series of closed labels at zero from the start, others not', async () => {
    const opened = openMetrics(sample, { pod: 'p' });

    expect(await seriesOf(opened, 'svc_closed_total')).toEqual([
      '{outcome="ok",pod="p"} 0',
      '{outcome="error",pod="p"} 0',
    ]);
    expect(await seriesOf(opened, 'svc_open_total')).toEqual([]);
  });

  it('replaces a gauge so that what is gone is not shown', async () => {
    const opened = openMetrics(sample, { pod: 'p' });
    opened.metrics.depth.set({ queue: 'old' }, 3);
    opened.metrics.depth.inc({ queue: 'old' });

    opened.metrics.depth.replace([{ labels: { queue: 'new' }, value: 5 }]);

    expect(await seriesOf(opened, 'svc_depth')).toEqual(['{queue="new",pod="p"} 5']);
  });

  it('keeps the buckets it declares', async () => {
    const opened = openMetrics(sample, { pod: 'p' });

    opened.metrics.wait.observe({ queue: 'q' }, 1.5);

    expect((await seriesOf(opened, 'svc_wait_seconds_bucket')).map((line) => line.split(' ')[1])).toEqual([
      '0',
      '1',
      '1',
    ]);
  });

  it('reads gauges for a scrape; one that fails is counted and stops nothing', async () => {
    const opened = openMetrics(sample, { pod: 'p' });
    opened.onScrape(() => Promise.reject(new Error('store is down')));
    opened.onScrape(() => opened.metrics.depth.set({ queue: 'q' }, 9));

    const text = await opened.text();

    expect(text).toContain('svc_depth{queue="q",pod="p"} 9');
    expect(text).toContain('svc_scrape_failures_total{pod="p"} 1');
  });
});

describe('topicLabel', () => {
  it('names known topics and no others', () => {
    const topic = topicLabel(['job.a']);
    expect([topic.of('job.a'), topic.of('job.b')]).toEqual(['job.a', 'other']);

    topic.know(['job.b']);

    expect([topic.of('job.a'), topic.of('job.b')]).toEqual(['other', 'job.b']);
  });

  it('stays bounded however many there are', () => {
    const names = Array.from({ length: 2_000 }, (_, i) => `job.${i}`);

    expect(new Set(names.map(topicLabel(names).of)).size).toBe(501);
  });
});

describe('the tables', () => {
  const all = Object.values(tables).flatMap((table) => Object.values<(typeof sample)['wait']>(table as never));

  it('name each metric once, in the form Prometheus asks for', () => {
    expect(all.map(({ name }) => name)).toHaveLength(new Set(all.map(({ name }) => name)).size);
    for (const { name, type } of all) {
      expect(name).toMatch(/^svc_[a-z_]+$/);
      expect([name, name.endsWith('_total')]).toEqual([name, (type as string) === 'counter']);
    }
  });

  it('open together', async () => {
    const { text } = openMetrics(
      { ...schedulerMetrics, ...approvalMetrics, ...commonMetrics, ...kernelMetrics, ...gatewayMetrics },
      { pod: 'p' },
    );

    expect(await text()).toContain('svc_scheduler_circuit_state{breaker="input",pod="p"} 0');
  });

  it('make a Markdown row a metric', () => {
    expect(metricsTable(sample).split('\n')[4]).toBe('| `svc_open_total` | counter | topic | Open. |');
  });
});
