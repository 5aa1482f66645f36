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

async function getSeries(opened: { text(): Promise<string> }, name: string) {
  const lines = (await opened.text()).split('\n');
  return lines.filter((line) => line.startsWith(`${name}{`)).map((line) => line.slice(name.length));
}

describe('openMetrics', () => {
  it('counts with labels, including the pod', async () => {
    const opened = openMetrics(sample, { pod: 'p1' });

    opened.metrics.plain.inc();
    opened.metrics.plain.inc(2);
    opened.metrics.open.inc({ topic: 'job.a' }, 4);

    expect(await getSeries(opened, 'svc_plain_total')).toEqual(['{pod="p1"} 3']);
    expect(await getSeries(opened, 'svc_open_total')).toEqual(['{topic="job.a",pod="p1"} 4']);
  });

  it('series with enumerated labels start at zero, others are absent', async () => {
    const opened = openMetrics(sample, { pod: 'p' });

    expect(await getSeries(opened, 'svc_closed_total')).toEqual([
      '{outcome="ok",pod="p"} 0',
      '{outcome="error",pod="p"} 0',
    ]);
    expect(await getSeries(opened, 'svc_open_total')).toEqual([]);
  });

  it('replacing a gauge removes its previous series', async () => {
    const opened = openMetrics(sample, { pod: 'p' });
    opened.metrics.depth.set({ queue: 'old' }, 3);
    opened.metrics.depth.inc({ queue: 'old' });

    opened.metrics.depth.replace([{ labels: { queue: 'new' }, value: 5 }]);

    expect(await getSeries(opened, 'svc_depth')).toEqual(['{queue="new",pod="p"} 5']);
  });

  it('uses the declared buckets', async () => {
    const opened = openMetrics(sample, { pod: 'p' });

    opened.metrics.wait.observe({ queue: 'q' }, 1.5);

    expect((await getSeries(opened, 'svc_wait_seconds_bucket')).map((line) => line.split(' ')[1])).toEqual([
      '0',
      '1',
      '1',
    ]);
  });

  it('reads gauges on a scrape; a failing one is counted and does not fail the scrape', async () => {
    const opened = openMetrics(sample, { pod: 'p' });
    opened.onScrape(() => Promise.reject(new Error('store is down')));
    opened.onScrape(() => opened.metrics.depth.set({ queue: 'q' }, 9));

    const text = await opened.text();

    expect(text).toContain('svc_depth{queue="q",pod="p"} 9');
    expect(text).toContain('svc_scrape_failures_total{pod="p"} 1');
  });
});

describe('topicLabel', () => {
  it('labels known topics by name and others as one', () => {
    const topic = topicLabel(['job.a']);
    expect([topic.of('job.a'), topic.of('job.b')]).toEqual(['job.a', 'other']);

    topic.know(['job.b']);

    expect([topic.of('job.a'), topic.of('job.b')]).toEqual(['other', 'job.b']);
  });

  it('bounds the number of labels', () => {
    const names = Array.from({ length: 2_000 }, (_, i) => `job.${i}`);

    expect(new Set(names.map(topicLabel(names).of)).size).toBe(501);
  });
});

describe('the tables', () => {
  const all = Object.values(tables).flatMap((table) => Object.values<(typeof sample)['wait']>(table as never));

  it('have unique names that follow the Prometheus conventions', () => {
    expect(all.map(({ name }) => name)).toHaveLength(new Set(all.map(({ name }) => name)).size);
    for (const { name, type } of all) {
      expect(name).toMatch(/^svc_[a-z_]+$/);
      expect([name, name.endsWith('_total')]).toEqual([name, (type as string) === 'counter']);
    }
  });

  it('can be registered together', async () => {
    const { text } = openMetrics(
      { ...schedulerMetrics, ...approvalMetrics, ...commonMetrics, ...kernelMetrics, ...gatewayMetrics },
      { pod: 'p' },
    );

    expect(await text()).toContain('svc_scheduler_circuit_state{breaker="input",pod="p"} 0');
  });

  it('render one Markdown row per metric', () => {
    expect(metricsTable(sample).split('\n')[4]).toBe('| `svc_open_total` | counter | topic | Open. |');
  });
});
