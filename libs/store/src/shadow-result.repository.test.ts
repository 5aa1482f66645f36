import { keys } from './keys';
import { ShadowResultRepository, type ShadowResult } from './shadow-result.repository';
import { useStore } from './store.testing';

const use = useStore();
const dayMs = 86_400_000;

const result = (job_id: string, bundle_id = 'secops/a'): ShadowResult => ({
  job_id,
  agent_id: '',
  severity: 'MEDIUM',
  bundle_id,
  shadow_bundle_id: 's1',
  active_verdict: 'ALLOW',
  shadow_verdict: 'DENY',
  diff: 'escalated',
  active_rule_id: '',
  shadow_rule_id: 'no',
  latency_ms: '0.25',
});
const many = (count: number, bundle?: string) => Array.from({ length: count }, (_, i) => result(`j${i}`, bundle));
const all = { fromMs: 0, toMs: Date.now() + dayMs, limit: 10_000 };
const jobs = async (range: object = {}, tenant = 'acme', bundle = 'secops/a') =>
  (await use.store.shadowResults.page(tenant, bundle, { ...all, ...range })).map(({ job_id }) => job_id);
/** As of an earlier time; oldest first. */
const past = async (ms: number, job: string, tenant = 'acme', bundle = 'secops/a') => {
  const fields = Object.entries(result(job, bundle)).flat();
  await use.redis.xadd(keys.shadowResults(tenant, bundle), `${ms}-*`, ...fields);
};

describe('results of shadow policies', () => {
  it('are returned unchanged, newest first, with their time and sequence number', async () => {
    await use.store.shadowResults.add('acme', [result('j1'), result('j2')]);

    const [newer, older] = await use.store.shadowResults.page('acme', 'secops/a', all);
    expect(newer).toEqual({ ...result('j2'), ts_ms: expect.any(Number), seq: expect.any(Number) });
    expect(older).toMatchObject({ job_id: 'j1' });
    expect(Math.abs((newer?.ts_ms ?? 0) - Date.now())).toBeLessThan(60_000);
    expect([newer?.ts_ms, newer?.seq]).not.toEqual([older?.ts_ms, older?.seq]);
  });

  it('are separate for each tenant and bundle', async () => {
    await use.store.shadowResults.add('acme', [result('j1'), result('j2', 'secops/b')]);
    await use.store.shadowResults.add('globex', [result('j3')]);

    expect(await jobs()).toEqual(['j1']);
    expect(await jobs({}, 'acme', 'secops/b')).toEqual(['j2']);
    expect(await jobs({}, 'globex')).toEqual(['j3']);
    expect(await use.store.shadowResults.exist('globex', 'secops/a')).toBe(true);
    expect(await use.store.shadowResults.exist('globex', 'secops/b')).toBe(false);
  });

  it('are read in a range that includes its start and excludes its end', async () => {
    for (const ms of [1_000, 2_000, 2_000, 3_000]) await past(ms, `at ${ms}`);

    expect(await jobs({ fromMs: 2_000, toMs: 3_000 })).toEqual(['at 2000', 'at 2000']);
    expect(await jobs({ fromMs: 1_000, toMs: 3_001 })).toHaveLength(4);
    expect(await jobs({ fromMs: 3_001, toMs: 4_000 })).toEqual([]);
  });

  it('are paginated without duplicates or omissions', async () => {
    await use.store.shadowResults.add('acme', many(25));
    const seen: string[] = [];
    let before: { ts_ms: number; seq: number } | undefined;
    for (;;) {
      const page = await use.store.shadowResults.page('acme', 'secops/a', {
        ...all,
        limit: 4,
        ...(before && { before }),
      });
      seen.push(...page.map(({ job_id }) => job_id));
      before = page.at(-1);
      if (page.length < 4) break;
    }

    expect(seen).toEqual(many(25).map(({ job_id }) => job_id).reverse()); // prettier-ignore
  });

  it('are empty before the first position, and complete for a position after the range', async () => {
    await past(1_000, 'j1');

    expect(await jobs({ before: { ts_ms: 0, seq: 0 } })).toEqual([]);
    expect(await jobs({ toMs: 1_001, before: { ts_ms: 5_000, seq: 1 } })).toEqual(['j1']);
  });
});

describe('retention of results', () => {
  it('removes those older than 30 days with the next write, and all of them 30 days after the last', async () => {
    const now = Date.now();
    await past(now - 31 * dayMs, 'old');
    await past(now - 29 * dayMs, 'young');

    await use.store.shadowResults.add('acme', [result('new')]);

    expect(await jobs()).toEqual(['new', 'young']);
    for (const key of [keys.shadowResults('acme', 'secops/a'), keys.shadowResultsOf('acme')]) {
      const leftMs = await use.redis.pttl(key);
      expect(leftMs).toBeGreaterThan(29 * dayMs);
      expect(leftMs).toBeLessThanOrEqual(30 * dayMs);
    }
  });

  it('is limited per tenant, shared by its bundles and independent of other tenants', async () => {
    const small = new ShadowResultRepository(use.store.redis, 10);
    await small.add('globex', many(8));
    await small.add('acme', many(25));
    expect(await jobs()).toEqual(Array.from({ length: 10 }, (_, i) => `j${24 - i}`));

    await small.add('acme', many(7, 'secops/b'));

    expect(await jobs()).toEqual(['j24', 'j23', 'j22', 'j21', 'j20']);
    expect(await jobs({}, 'acme', 'secops/b')).toEqual(['j6', 'j5', 'j4', 'j3', 'j2']);
    expect(await jobs({}, 'globex')).toHaveLength(8);
  });
});
