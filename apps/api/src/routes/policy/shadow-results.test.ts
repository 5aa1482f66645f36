import { keys, type ShadowResult } from '@svc/store';
import { useApi } from '../../api.testing';
import { statusAndCode, type Calls } from '../../caller.testing';
import { ban, bundleCalls } from './policy.testing';

// Writes ten thousand results, possibly on a busy machine.
jest.setTimeout(20_000);

const hour = 3_600_000;
const candidate = ban('tighter', 'job.demo.echo');

describe('GET /api/v1/policy/shadows/:bundle_id/results', () => {
  const api = useApi();
  const { put: putBundle } = bundleCalls(api);
  const query = (part: string, asked: object, as: Calls = api.as('admin'), id = 'secops~a') =>
    as.get(`/api/v1/policy/shadows/${id}/results/${part}?${new URLSearchParams(Object.entries(asked)).toString()}`);
  const invalid = { status: 400, code: 'POLICY_SHADOW_QUERY_INVALID' };
  const now = Date.now();
  const window = { from: now - 10 * hour, to: now + hour };
  const asked = { summary: window, comparisons: window, timeseries: { ...window, bucket: '1h' } };

  /** Results of earlier times, oldest first. */
  const given = async (results: [atMs: number, diff: ShadowResult['diff']][], tenant = 'acme', shadow = 's1') => {
    const writing = api.store.redis.pipeline();
    results.forEach(([atMs, diff], i) => {
      const result: ShadowResult = {
        job_id: `j${i}`,
        agent_id: 'a1',
        severity: 'LOW',
        bundle_id: 'secops/a',
        shadow_bundle_id: shadow,
        active_verdict: 'ALLOW',
        shadow_verdict: 'DENY',
        diff,
        active_rule_id: 'live',
        shadow_rule_id: 'tighter',
        latency_ms: '0.2',
      };
      writing.xadd(keys.shadowResults(tenant, 'secops/a'), `${atMs}-*`, ...Object.entries(result).flat());
    });
    await writing.exec();
  };

  describe('summary', () => {
    /** A window that was not queried before, since counts are cached. */
    const fresh = () => ({ ...window, to: window.to + (asks += 1) });
    let asks = 0;

    it('200: counts the results in the window, and names the current shadow', async () => {
      const wanted = fresh();
      await putBundle('secops~a', { content: candidate });
      const { body: shadow } = await api.as('admin').put('/api/v1/policy/shadows/secops~a', { content: candidate });
      await given([
        [window.from - 1, 'escalated'],
        [window.from, 'escalated'],
        [now, 'escalated'],
        [now, 'relaxed'],
        [now, 'approval_differ'],
        [now, 'unchanged'],
        [wanted.to, 'unchanged'],
      ]);

      expect(await query('summary', wanted)).toMatchObject({
        status: 200,
        body: {
          bundle_id: 'secops/a',
          shadow_bundle_id: shadow['shadow_bundle_id'],
          from_ms: window.from,
          to_ms: wanted.to,
          total_evaluated: 5,
          escalated_count: 2,
          relaxed_count: 1,
          approval_differ_count: 1,
          unchanged_count: 1,
          truncated_at_max: false,
        },
      });
    });

    it('200: results of a removed shadow are kept, under its last id', async () => {
      await given([[now - hour, 'relaxed']], 'acme', 'shadow-of-old');
      await given([[now, 'relaxed']], 'acme', 'shadow-of-late');

      const { body } = await query('summary', fresh());

      expect(body).toMatchObject({ shadow_bundle_id: 'shadow-of-late', total_evaluated: 2 });
      expect(statusAndCode(await query('summary', window, api.as('other')))).toEqual({ status: 404, code: 'shadow_policy_not_found' }); // prettier-ignore
    });

    it('200: the counts of a window are read once a minute', async () => {
      await given([[now - hour, 'relaxed']]);
      const [one, other] = [fresh(), fresh()];
      expect((await query('summary', one)).body['total_evaluated']).toBe(1);
      await given([[now, 'relaxed']]);

      expect((await query('summary', one)).body['total_evaluated']).toBe(1);
      expect((await query('summary', other)).body['total_evaluated']).toBe(2);
    });
  });

  describe('comparisons', () => {
    const entries = async (more: object = {}, as?: Calls) => {
      const { body } = await query('comparisons', { ...window, ...more }, as);
      return body as { entries: { job_id: string; ts_ms: number }[]; next_cursor: string; truncated_at_max: boolean };
    };

    it('200: newest first, with all fields', async () => {
      await given([
        [now - 2, 'escalated'],
        [now - 1, 'unchanged'],
      ]);

      const page = await entries();

      expect(page).toMatchObject({ next_cursor: '', truncated_at_max: false });
      expect(page.entries.map(({ job_id }) => job_id)).toEqual(['j1', 'j0']);
      expect(page.entries[1]).toEqual({
        ts_ms: now - 2,
        job_id: 'j0',
        agent_id: 'a1',
        shadow_bundle_id: 's1',
        active_verdict: 'ALLOW',
        shadow_verdict: 'DENY',
        diff: 'escalated',
        active_rule_id: 'live',
        shadow_rule_id: 'tighter',
        latency_ms: '0.2',
        seq: 0,
      });
    });

    it.each(['all', 'relaxed'])('200: pages of %s contain each result once', async (diff) => {
      await given(Array.from({ length: 25 }, (_, i) => [now - 100 + (i >> 2), i % 3 === 0 ? 'relaxed' : 'unchanged']));
      const wanted = Array.from({ length: 25 }, (_, i) => i).filter((i) => diff === 'all' || i % 3 === 0);
      const seen: string[] = [];
      for (let cursor = ''; ;) {
        const page = await entries({ diff, limit: 4, ...(cursor && { cursor }) });
        seen.push(...page.entries.map(({ job_id }) => job_id));
        if ((cursor = page.next_cursor) === '') break;
        expect(page.entries).toHaveLength(4);
      }

      expect(seen).toEqual(wanted.reverse().map((i) => `j${i}`));
    });

    it('200: no results of another tenant', async () => {
      await given([[now, 'relaxed']]);
      await given([[now, 'relaxed'], [now, 'relaxed']], 'globex'); // prettier-ignore

      expect((await entries()).entries).toHaveLength(1);
      expect((await entries({}, api.as('other'))).entries).toHaveLength(2);
    });
  });

  describe('timeseries', () => {
    it('200: every bucket of the period, the first one whole', async () => {
      const from = Math.floor(now / hour) * hour - 2 * hour;
      await given([
        [from - 1, 'relaxed'],
        [from, 'escalated'],
        [from + 1, 'unchanged'],
        [from + 2 * hour, 'approval_differ'],
      ]);

      const { body } = await query('timeseries', { from: from + 5, to: from + 3 * hour, bucket: '1h' });

      const none = { escalated: 0, relaxed: 0, approval_differ: 0, unchanged: 0, total: 0 };
      expect(body).toEqual({
        bucket: '1h',
        from_ms: from,
        to_ms: from + 3 * hour,
        buckets: [
          { ...none, ts_ms: from, escalated: 1, unchanged: 1, total: 2 },
          { ...none, ts_ms: from + hour },
          { ...none, ts_ms: from + 2 * hour, approval_differ: 1, total: 1 },
        ],
        truncated_at_max: false,
      });
    });

    it.each([
      ['no bucket', {}],
      ['an unknown bucket', { bucket: '2h' }],
      ['more than 2000 buckets', { from: 0, to: 2_001 * 60_000, bucket: '1m' }],
    ])('400 POLICY_SHADOW_QUERY_INVALID: %s', async (_, more) => {
      expect(statusAndCode(await query('timeseries', { ...window, ...more }))).toEqual(invalid);
    });
  });

  it('200: more than 10,000 results are truncated to the newest, and a search can be continued', async () => {
    await given(Array.from({ length: 10_005 }, (_, i) => [now - 20_000 + i, i < 5 ? 'escalated' : 'unchanged']));

    const wide = { ...window, from: window.from - 1 };
    expect((await query('summary', wide)).body).toMatchObject({ total_evaluated: 10_000, escalated_count: 0, truncated_at_max: true }); // prettier-ignore
    const exact = { from: now - 19_995, to: now };
    expect((await query('summary', exact)).body).toMatchObject({ total_evaluated: 10_000, truncated_at_max: false });
    expect((await query('timeseries', { ...wide, bucket: '1d' })).body['truncated_at_max']).toBe(true);
    const search = { ...wide, diff: 'escalated' };
    const { body: first } = await query('comparisons', search);
    expect(first).toMatchObject({ entries: [], truncated_at_max: true });
    const { body: second } = await query('comparisons', { ...search, cursor: first['next_cursor'] });
    expect(second).toMatchObject({ next_cursor: '', truncated_at_max: false });
    expect((second['entries'] as { job_id: string }[]).map(({ job_id }) => job_id)).toEqual([
      'j4',
      'j3',
      'j2',
      'j1',
      'j0',
    ]);
  });

  it.each(['summary', 'comparisons', 'timeseries'] as const)('400, 404: %s of an invalid window, or of an unknown shadow', async (part) => {
    const day = 24 * hour;
    for (const bad of [{ from: 5, to: 5 }, { from: 5, to: 4 }, { from: 0, to: 30 * day + 1 }, { from: 'x' }, { to: '' }, { from: -1 }]) {
      const answer = await query(part, { ...asked[part], ...bad });
      expect(statusAndCode(answer)).toEqual(invalid);
      expect(answer.body['violations']).toEqual([expect.objectContaining({ in: 'query' })]);
    }
    expect(statusAndCode(await query(part, {}))).toEqual(invalid);
    expect(statusAndCode(await query(part, asked[part]))).toEqual({ status: 404, code: 'shadow_policy_not_found' });
    expect((await query(part, asked[part], api.as('operator'))).status).toBe(403);
  }); // prettier-ignore

  it.each([{ diff: 'worse' }, { limit: '0' }, { limit: '501' }, { limit: 'x' }, { cursor: 'x' }, { cursor: '1' }])(
    '400 POLICY_SHADOW_QUERY_INVALID: comparisons with %j',
    async (more) => {
      expect(statusAndCode(await query('comparisons', { ...window, ...more }))).toEqual(invalid);
    },
  );
});
