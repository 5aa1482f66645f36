import {
  backoffMs,
  bestMatch,
  chooseWorker,
  isRetryable,
  toLane,
  matchesTopic,
  toRoutingNeeds,
  parsePools,
  parseTimeouts,
  timeoutsFor,
  waitingReason,
  type PoolTable,
  type RetrySettings,
  type RoutableWorker,
} from './index';

const table = (text: string): PoolTable => {
  const parsed = parsePools(text, 'pools.yaml', false);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.value;
};
const worker = (over: Partial<RoutableWorker> = {}): RoutableWorker => ({
  id: 'w',
  pool: 'main',
  active: 0,
  maxParallel: 2,
  cpuLoad: 0,
  gpuLoad: 0,
  memoryLoad: 0,
  capabilities: [],
  labels: {},
  readyTopics: [],
  announced: false,
  draining: false,
  ...over,
});
const choose = (
  pools: PoolTable,
  workers: RoutableWorker[],
  over: {
    topic?: string;
    requires?: string[];
    labels?: Record<string, string>;
    ready?: boolean;
    random?: number;
    affinity?: string;
    wanted?: string;
  } = {},
) => {
  const choice = chooseWorker(
    pools,
    toRoutingNeeds(over.topic ?? 'job.a', over.requires ?? [], over.labels ?? {}),
    { ...(over.affinity && { affinity: over.affinity }), ...(over.wanted && { preferredWorkerId: over.wanted }) },
    workers,
    { readinessRequired: over.ready ?? false },
    () => over.random ?? 0,
  );
  return choice.kind === 'worker' ? choice.worker.id : waitingReason(choice);
};

/** The worker chosen with these random numbers. */
const drawn = (workers: RoutableWorker[], ...numbers: number[]) => {
  const pools = table('topics: {job.a: main}\npools: {main: {}}');
  const choice = chooseWorker(pools, toRoutingNeeds('job.a', [], {}), {}, workers, { readinessRequired: false }, () => {
    return numbers.shift() ?? 0;
  });
  return choice.kind === 'worker' ? choice.worker.id : choice.reason;
};

describe('topic patterns', () => {
  it.each([
    ['job.a', 'job.a', true],
    ['job.*', 'job.a', true],
    ['job.*', 'job.a.b', false],
    ['job.>', 'job.a.b', true],
    ['job.>', 'job', false],
    ['job.*.b', 'job.a.b', true],
    ['job.a.*', 'job.a', false],
    ['>', 'job', true],
    ['job.>', 'job', false],
    ['job.>', 'jobs.a', false],
    ['job.*.>', 'job.a', false],
    ['a.>.b.>', 'a.c', true],
  ])('%s matches %s: %s', (pattern, topic, fits) => expect(matchesTopic(pattern, topic)).toBe(fits));

  it('an exact name wins, then more literal tokens, then a longer pattern, then * before >', () => {
    const patterns = { 'job.>': 1, 'job.*': 2, 'job.a.*': 3, 'job.a.>': 4, 'job.a.b': 5 };

    expect(bestMatch(patterns, 'job.a.b')?.pattern).toBe('job.a.b');
    expect(bestMatch(patterns, 'job.a.c')?.pattern).toBe('job.a.*');
    expect(bestMatch(patterns, 'job.a.c.d')?.pattern).toBe('job.a.>');
    expect(bestMatch(patterns, 'job.z')?.pattern).toBe('job.*');
    expect(bestMatch(patterns, 'other')).toBeUndefined();
    expect(bestMatch({ 'job.a.*': 6 }, 'job.a.b')?.value).toBe(6);
  });
});

describe('choosing a worker', () => {
  const two = table('topics: {job.a: [main, spare]}\npools: {main: {}, spare: {}}');

  it('tries pools in order and uses the first with capacity', () => {
    const spare = worker({ id: 's', pool: 'spare' });

    expect(choose(two, [worker(), spare])).toBe('w');
    expect(choose(two, [worker({ active: 2 }), spare])).toBe('s');
    expect(choose(two, [spare])).toBe('s');
  });

  it('returns a reason when there is no worker', () => {
    expect(choose(two, [], { topic: 'job.z' })).toBe('no_pool_mapping');
    expect(choose(two, [])).toBe('no_workers');
    expect(choose(two, [worker({ active: 2 })])).toBe('pool_overloaded');
    expect(choose(two, [worker()], { labels: { preferred_pool: 'elsewhere' } })).toBe('no_pool_mapping');
  });

  it('skips draining pools, and pools without a required capability', () => {
    const pools = table('topics: {job.a: [main, gpu]}\npools: {main: {status: draining}, gpu: {requires: [GPU]}}');
    const gpu = worker({ id: 'g', pool: 'gpu', capabilities: ['gpu', 'x'] });

    expect(choose(pools, [worker(), gpu], { requires: [' gpu '] })).toBe('g');
    expect(choose(pools, [worker()])).toBe('no_workers');
    expect(choose(two, [worker()], { requires: ['gpu'] })).toBe('no_pool_mapping');
  });

  it('names a capability that the closest live worker lacks, if it matches otherwise', () => {
    const pools = table('topics: {job.a: main}\npools: {main: {requires: [gpu, "network:egress", disk]}}');
    const lacking = worker({ capabilities: ['Disk ', 'GPU'] });

    expect(choose(pools, [worker(), lacking])).toBe('missing_capability: network:egress');
    expect(choose(pools, [])).toBe('no_workers');
    expect(choose(pools, [{ ...lacking, pool: 'elsewhere' }])).toBe('no_workers');
    expect(choose(pools, [{ ...lacking, draining: true }])).toBe('no_workers');
    expect(choose(pools, [lacking], { labels: { 'placement.zone': 'a' } })).toBe('no_workers');
    const full = worker({ active: 2, capabilities: ['gpu', 'network:egress', 'disk'] });
    expect(choose(pools, [lacking, full])).toBe('pool_overloaded');
  });

  it('skips draining workers, and workers without the pool’s capabilities, placement labels or readiness', () => {
    const pools = table('topics: {job.a: gpu}\npools: {gpu: {requires: [gpu]}}');
    const fit = worker({ pool: 'gpu', capabilities: ['gpu'], labels: { 'placement.zone': 'b' } });

    expect(choose(pools, [worker({ pool: 'gpu' })])).toBe('missing_capability: gpu');
    expect(choose(pools, [fit], { labels: { 'placement.zone': 'a' } })).toBe('no_workers');
    expect(choose(pools, [fit], { labels: { 'placement.zone': 'b' } })).toBe('w');
    expect(choose(pools, [fit], { ready: true })).toBe('no_workers');
    expect(choose(pools, [{ ...fit, announced: true, readyTopics: ['job.*'] }], { ready: true })).toBe('w');
    expect(choose(pools, [{ ...fit, draining: true }])).toBe('no_workers');
  });

  it('prefers the less loaded of two, cool before hot, and the preferred worker', () => {
    const [idle, busy] = [worker({ id: 'idle' }), worker({ id: 'busy', active: 1 })];
    let turn = 0;
    const pick = chooseWorker(
      two,
      toRoutingNeeds('job.a', [], {}),
      {},
      [busy, idle],
      { readinessRequired: false },
      () => (turn++ % 2 ? 0.9 : 0),
    );

    expect(pick).toMatchObject({ worker: { id: 'idle' } });
    expect(choose(two, [worker({ id: 'hot', cpuLoad: 95 }), idle])).toBe('idle');
    expect(choose(two, [idle, busy], { wanted: 'busy' })).toBe('busy');
  });

  it('draws two different workers, so that the less loaded of two always gets the job', () => {
    const [idle, busy] = [worker({ id: 'idle', maxParallel: 20 }), worker({ id: 'busy', maxParallel: 20, active: 19 })];

    const draws = [0, 0.3, 0.6, 0.99];
    const picked = draws.flatMap((one) => draws.map((two) => drawn([busy, idle], one, two)));

    expect(new Set(picked)).toEqual(new Set(['idle']));
  });

  it('draws every pair of three workers', () => {
    const workers = [0, 1, 2].map((active) => worker({ id: `w${active}`, maxParallel: 20, active }));

    const pairs = [0, 0.4, 0.7].flatMap((one) => [0, 0.5].map((two) => drawn(workers, one, two)));

    expect(pairs.sort()).toEqual(['w0', 'w0', 'w0', 'w0', 'w1', 'w1']);
  });

  it('keeps jobs of one affinity on one worker, and moves few when a worker disappears', () => {
    const workers = ['a', 'b', 'c'].map((id) => worker({ id, maxParallel: 0 }));
    const on = (list: RoutableWorker[]) =>
      Array.from({ length: 60 }, (_, i) => choose(two, list, { affinity: `session-${i}` }));
    const [all, fewer] = [on(workers), on(workers.slice(0, 2))];

    expect(on(workers)).toEqual(all);
    expect(new Set(all).size).toBe(3);
    for (const [i, id] of all.entries()) if (id !== 'c') expect(fewer[i]).toBe(id);
  });
});

describe('lanes', () => {
  it('are shared by jobs with equal requirements, regardless of their order', () => {
    const one = toLane(toRoutingNeeds('job.a', ['X', 'y'], { 'node.z': '1', 'node.a': '2', other: 'q' }));
    const two = toLane(toRoutingNeeds('job.a', ['y', 'x '], { 'node.a': '2', 'node.z': '1' }));

    expect(one).toEqual(two);
    expect(toLane(toRoutingNeeds('job.a', [], { other: 'q' })).id).toBe('job.a');
    expect(one.id).not.toBe('job.a');
  });
});

describe('files', () => {
  it('reports every error of a pools file with its line', () => {
    const text = 'topics:\n  job.a: main\n  nojob: main\npools:\n  main: {requires: "x"}\n  A--b: {}\nextra: 1\n';
    const parsed = parsePools(text, 'pools.yaml', true);

    expect(parsed.ok).toBe(false);
    const where = parsed.ok ? [] : parsed.problems.map(({ path, line }) => `${path}@${line}`).sort();
    expect(where).toEqual(['extra@7', 'pools.A--b@6', 'pools.main.requires@5', 'topics.nojob@3']);
  });

  it('rejects a topic with an undefined pool in production, and creates an empty pool otherwise', () => {
    expect(parsePools('topics: {job.a: main}', 'p', true).ok).toBe(false);
    expect(table('topics: {job.a: main}').pools['main']).toMatchObject({ requires: [], status: 'active' });
  });

  it('applies timeouts by topic pattern, then workflow, then the default', () => {
    const parsed = parseTimeouts(
      'reconciler: {running_timeout_seconds: 60}\ntopics: {job.a.*: {running_timeout_seconds: 5, max_retries: 2}}\nworkflows: {w: {child_timeout_seconds: 7, max_retries: 1}}',
      't',
    );
    const of = (topic: string, workflow?: string) =>
      parsed.ok ? timeoutsFor(parsed.value, topic, workflow) : undefined;

    expect(of('job.a.b')).toMatchObject({ runningMs: 5_000, maxRetries: 2, dispatchMs: 300_000 });
    expect(of('job.z', 'w')).toMatchObject({ runningMs: 60_000, maxRetries: 1, dispatchMs: 7_000 });
    expect(parseTimeouts('topics: {job.a: {timeout_seconds: 0}}', 't').ok).toBe(false);
  });
});

describe('retries', () => {
  const settings: RetrySettings = {
    maxRetries: 3,
    initialBackoffMs: 1_000,
    maxBackoffMs: 30_000,
    multiplier: 2,
    retryableErrors: ['network_error'],
    nonRetryableErrors: ['bad_request'],
  };

  it('back off exponentially up to the maximum', () => {
    expect([1, 2, 3, 10].map((n) => backoffMs(settings, n, () => 0))).toEqual([1_000, 2_000, 4_000, 30_000]);
    expect(backoffMs(settings, 1, () => 0.5)).toBe(1_100);
  });

  it('depend on status and code; a non-retryable code wins', () => {
    expect(isRetryable('FAILED_RETRYABLE', 'x', settings)).toBe(true);
    expect(isRetryable('FAILED_RETRYABLE', 'bad_request', settings)).toBe(false);
    expect(isRetryable('FAILED', 'network_error', settings)).toBe(true);
    expect(isRetryable('FAILED', 'x', settings)).toBe(false);
    expect(isRetryable('FAILED_FATAL', 'network_error', settings)).toBe(false);
  });
});
