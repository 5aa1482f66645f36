import { queues } from '@svc/queues.config';
import type { PolicyTrial } from '@svc/kernel-client';
import type { PolicyDecision, PolicyRequest } from '@svc/policy';
import { openStore, type DecisionRecord, type Store, type StoredShadow } from '@svc/store';
import { eventually, useServers } from '@svc/testing';
import { Redis } from 'ioredis';
import { ShadowEvaluation } from './shadow-evaluation';
import { wasReported } from '@svc/decision';

// Thousands of results are written, on a machine that may be busy.
jest.setTimeout(20_000);

const decided = (decision: PolicyDecision['decision'], rule_id = ''): PolicyDecision => ({
  decision,
  reason: '',
  rule_id,
  policy_snapshot: '1:abc',
  remediations: [],
  approval_required: decision === 'REQUIRE_APPROVAL',
});

describe('shadow evaluation', () => {
  let redis: Redis;
  let store: Store;
  let evaluations: ShadowEvaluation[] = [];
  afterAll(async () => void (await redis.quit()));
  const servers = useServers();
  beforeAll(() => {
    redis = new Redis(servers.redisUrl);
    store = openStore(redis, queues, { metaSec: 3_600, dataSec: 600 });
  });
  afterEach(async () => {
    await Promise.all(evaluations.map((evaluation) => evaluation.close()));
    evaluations = [];
    jest.restoreAllMocks();
  });

  const shadow = async (id: string, { tenant = 'acme', bundle = 'secops/a', read = '' } = {}) => {
    const times = { created_at: '', activated_at: '' };
    const one: StoredShadow = {
      ...{ shadow_bundle_id: id, bundle_id: bundle, tenant_id: tenant, created_by: 'ann', metadata: {}, bytes: 1 },
      ...times,
      content: `# ${id}`,
    };
    await store.shadows.write(tenant, bundle, { read, shadow: one, audit: { tenant, entry: '' } });
  };
  const end = (id: string, tenant = 'acme', bundle = 'secops/a') =>
    store.shadows.write(tenant, bundle, { read: id, audit: { tenant, entry: '' } });

  type Simulate = (request: PolicyRequest, trial?: PolicyTrial) => Promise<PolicyDecision>;
  const open = async (simulate: Simulate = async () => decided('DENY', 'no'), isRead = true) => {
    const events: unknown[][] = [];
    const asked: string[] = [];
    const kernel: { simulate: Simulate } = {
      simulate: (request, trial) => {
        asked.push(`${request.job_id ?? ''} ${trial?.candidate?.content ?? ''}`);
        return simulate(request, trial);
      },
    };
    const note =
      (name: string) =>
      (...args: unknown[]) =>
        void events.push([name, ...args]);
    const evaluation = new ShadowEvaluation({
      store,
      kernel,
      monotonicMs: () => performance.now(),
      events: {
        waiting: () => undefined,
        dropped: note('dropped'),
        failed: (what, error) => note('failed')(what, error instanceof Error ? error.message : error),
        evaluated: (decision, diff) => note('evaluated')(decision, diff),
      },
    });
    evaluations.push(evaluation);
    if (isRead) await evaluation.refresh();
    const live = (job_id: string, decision = decided('ALLOW', 'yes'), more: Partial<PolicyRequest> = {}) =>
      evaluation.decided({ request: { topic: 'job.a', tenant: 'acme', job_id, ...more }, decision });
    return { evaluation, events, asked, live };
  };
  const results = async (tenant = 'acme', bundle = 'secops/a') =>
    store.shadowResults.page(tenant, bundle, { fromMs: 0, toMs: Date.now() + 1e9, limit: 10_000 });
  const recorded = (count: number, tenant?: string, bundle?: string) =>
    eventually(async () => {
      const all = await results(tenant, bundle);
      expect(all).toHaveLength(count);
      return all;
    });

  it('records the difference of the shadow in the form of the audit event', async () => {
    await shadow('s1');
    const { live, events } = await open();

    live('j1', decided('ALLOW', 'yes'), { labels: { agent_id: 'a7' } });

    const [result] = await recorded(1);
    expect(result).toEqual({
      ts_ms: expect.any(Number),
      seq: expect.any(Number),
      job_id: 'j1',
      agent_id: 'a7',
      severity: 'MEDIUM',
      bundle_id: 'secops/a',
      shadow_bundle_id: 's1',
      active_verdict: 'ALLOW',
      shadow_verdict: 'DENY',
      diff: 'escalated',
      active_rule_id: 'yes',
      shadow_rule_id: 'no',
      latency_ms: expect.stringMatching(/^\d+(\.\d{1,3})?$/),
    });
    expect(events).toEqual([['evaluated', 'DENY', 'escalated']]);
  });

  it('evaluates each shadow of the tenant once, and none of another tenant', async () => {
    await shadow('s1');
    await shadow('s2', { bundle: 'secops/b' });
    await shadow('s3', { tenant: 'globex' });
    const { live, asked } = await open();

    live('j1');
    live('j2', decided('ALLOW'), { tenant: 'initech' });
    live('j3', decided('DENY'), { tenant: 'globex' });

    await recorded(1);
    await recorded(1, 'acme', 'secops/b');
    await recorded(1, 'globex');
    expect(asked.sort()).toEqual(['j1 # s1', 'j1 # s2', 'j3 # s3']);
    expect(await redis.keys('svc:policy:shadow-results:initech:*')).toEqual([]);
  });

  it('a reload applies new, changed and ended shadows, and does not read known texts again', async () => {
    await shadow('s1');
    const { evaluation, live, asked } = await open();
    const get = jest.spyOn(store.shadows, 'get');
    await shadow('s2', { read: 's1' });
    await shadow('s3', { bundle: 'secops/b' });
    await evaluation.refresh();
    live('j1');
    await eventually(() => expect(asked.sort()).toEqual(['j1 # s2', 'j1 # s3']));

    await end('s2');
    await Promise.all([evaluation.refresh(), evaluation.refresh()]);
    live('j2');

    await eventually(() => expect(asked.slice(2)).toEqual(['j2 # s3']));
    expect(get).toHaveBeenCalledTimes(2);
  });

  it('decisions made before the first read are queued until then', async () => {
    await shadow('s1');
    const { evaluation, live, asked } = await open(undefined, false);
    jest.spyOn(store.shadows, 'all').mockRejectedValueOnce(new Error('no store'));
    live('j1');
    live('j2', decided('ALLOW'), { tenant: 'globex' });
    await evaluation.refresh();
    expect(asked).toEqual([]);

    await evaluation.refresh();

    await recorded(1);
    expect(asked).toEqual(['j1 # s1']);
  });

  it('while shadows cannot be read, the previous ones stay in effect', async () => {
    await shadow('s1');
    const { evaluation, live, events } = await open();
    jest.spyOn(store.shadows, 'all').mockRejectedValueOnce(new Error('no store'));

    await evaluation.refresh();
    live('j1');

    await recorded(1);
    expect(events[0]).toEqual(['failed', 'list', 'no store']);
  });

  it('a shadow that cannot be evaluated is counted and gets no result', async () => {
    await shadow('s1');
    const { live, events } = await open(async ({ job_id }) => {
      if (job_id === 'j1') throw new Error('no kernel');
      return decided('DENY');
    });

    live('j1');
    live('j2');

    expect((await recorded(1)).map(({ job_id }) => job_id)).toEqual(['j2']);
    expect(events).toEqual(expect.arrayContaining([['evaluated', 'UNAVAILABLE', 'none'], ['failed', 'evaluation', 'no kernel']])); // prettier-ignore
  });

  it('evaluates 64 at once and queues 1000; further ones are dropped and counted, and accepted ones complete', async () => {
    await shadow('s1');
    const ends: (() => void)[] = [];
    const { live, events, asked } = await open(
      () => new Promise((resolve) => ends.push(() => resolve(decided('ALLOW', 'yes')))),
    );
    for (let i = 0; i < 64; i++) live(`first ${i}`);
    await eventually(() => expect(asked).toHaveLength(64));

    for (let i = 0; i < 1_003; i++) live(`then ${i}`);

    expect(events).toEqual(Array.from({ length: 3 }, () => ['dropped', 'queue_full', 1]));
    await eventually(async () => {
      for (const finish of ends.splice(0)) finish();
      expect((await results()).length).toBe(1_064);
    });
    expect(new Set((await results()).map(({ job_id }) => job_id)).size).toBe(1_064);
  });

  it('queued inputs are bounded by their total size', async () => {
    await shadow('s1');
    let finish = (): void => undefined;
    const over = new Promise<void>((resolve) => (finish = resolve));
    const { live, events, asked } = await open(() => over.then(() => decided('ALLOW')));
    for (let i = 0; i < 64; i++) live(`first ${i}`);
    await eventually(() => expect(asked).toHaveLength(64));
    const input_content = 'x'.repeat(8 * 1_024 * 1_024);

    for (let i = 0; i < 10; i++) live(`then ${i}`, undefined, { input_content });

    expect(events).toEqual([['dropped', 'queue_full', 1], ['dropped', 'queue_full', 1]]); // prettier-ignore
    finish();
    await recorded(72);
  });

  it('results that could not be stored are written later, each once', async () => {
    await shadow('s1');
    const { live, events } = await open();
    const add = jest.spyOn(store.shadowResults, 'add').mockRejectedValueOnce(new Error('no store'));

    for (let i = 0; i < 450; i++) live(`j${i}`);

    const all = await recorded(450);
    expect(all.map(({ job_id }) => job_id).reverse()).toEqual(Array.from({ length: 450 }, (_, i) => `j${i}`));
    expect(events).toContainEqual(['failed', 'results', 'no store']);
    expect(Math.max(...add.mock.calls.map(([, batch]) => batch.length))).toBeLessThanOrEqual(200);
  });

  it('closing writes pending results and counts those that could not be written', async () => {
    await shadow('s1');
    const { evaluation, live, events } = await open();
    for (let i = 0; i < 20; i++) live(`j${i}`);

    await evaluation.close();

    expect(await results()).toHaveLength(20);
    live('late');
    expect(events.at(-1)).toEqual(['dropped', 'closed', 1]);

    const other = await open();
    jest.spyOn(store.shadowResults, 'add').mockRejectedValue(new Error('no store'));
    for (let i = 0; i < 5; i++) other.live(`lost ${i}`);
    await other.evaluation.close();
    expect(other.events.at(-1)).toEqual(['dropped', 'closed', 5]);
  });
});

describe('whether a decision was evaluated by shadows before', () => {
  const record = (over: Partial<DecisionRecord>): DecisionRecord => ({
    decision: 'ALLOW',
    rule_id: 'r',
    policy_snapshot: '1:abc|cfg:x',
    checked_at: 0,
    source: 'scheduler',
    ...over,
  });

  it.each<[string, DecisionRecord | undefined, PolicyDecision, boolean]>([
    ['of the first one', undefined, decided('ALLOW', 'r'), false],
    ['that the gateway deferred to the scheduler', record({ source: 'gateway' }), decided('ALLOW', 'r'), false],
    ['that the scheduler made again', record({}), decided('ALLOW', 'r'), true],
    ['that throttles again', record({ decision: 'THROTTLE' }), decided('THROTTLE', 'r'), true],
    ['that the gateway held it for', record({ source: 'gateway', decision: 'REQUIRE_APPROVAL' }), decided('REQUIRE_APPROVAL', 'r'), true],
    ['that is another one', record({}), decided('DENY', 'r'), false],
    ['by another rule', record({}), decided('ALLOW', 'other'), false],
    ['under another policy', record({ policy_snapshot: '1:abd' }), decided('ALLOW', 'r'), false],
    ['when policy was unavailable', record({ decision: 'UNAVAILABLE' }), decided('ALLOW', 'r'), false],
  ])('%s', (_, last, decision, expected) => {
    expect(wasReported(last, decision)).toBe(expected);
  }); // prettier-ignore
});
