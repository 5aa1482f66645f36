import { keys, type ShadowResult } from '@svc/store';
import { eventually } from '@svc/testing';
import { useApi } from '../../api.testing';
import { told, type Calls } from '../../caller.testing';
import { ban, bundleCalls } from './policy.testing';

const hour = 3_600_000;
const candidate = ban('tighter', 'job.demo.echo');

describe('/api/v1/policy/shadows/:bundle_id', () => {
  const api = useApi();
  const { put: putBundle, get: getBundle, remove: removeBundle } = bundleCalls(api);
  const path = (id: string, query = '') => `/api/v1/policy/shadows/${id}${query}`;
  const put = (body: object = { content: candidate }, id = 'secops~a', as: Calls = api.as('admin')) =>
    as.put(path(id), body);
  const get = (id = 'secops~a', as: Calls = api.as('admin')) => as.get(path(id));
  const remove = (id = 'secops~a', as: Calls = api.as('admin')) => as.del(path(id));
  const missing = { status: 404, code: 'shadow_policy_not_found' };

  beforeEach(async () => {
    await putBundle('secops~a', { content: ban('live', 'job.other') });
  });

  it('200: it is stored beside the bundle, told of, and changes no decision', async () => {
    const answer = await put({ content: candidate, metadata: { ticket: 'OPS-7' } });

    expect(answer).toMatchObject({
      status: 200,
      body: {
        shadow_bundle_id: expect.stringMatching(/^shadow-[0-9a-f]{12}$/),
        bundle_id: 'secops/a',
        tenant_id: 'acme',
        created_by: 'ann',
        content: candidate,
        metadata: { ticket: 'OPS-7' },
      },
    });
    expect(await get()).toMatchObject({ status: 200, body: answer.body });
    expect((await getBundle('secops~a')).body['content']).toBe(ban('live', 'job.other'));
    expect(await api.packets()).toContain('sys.config.changed');
    expect((await api.as('user').post('/api/v1/jobs', { prompt: 'x', topic: 'job.demo.echo' })).status).toBe(200);
  });

  it('200: written again it is another one that was first written then', async () => {
    const { body: first } = await put();

    const { body: second } = await put({ content: ban('other', 'job.b') }, 'secops~a', api.as('boss'));

    expect(second).toMatchObject({ created_at: first['created_at'], created_by: 'bob', metadata: {} });
    expect(second['shadow_bundle_id']).not.toBe(first['shadow_bundle_id']);
    expect(String(second['activated_at']) >= String(first['activated_at'])).toBe(true);
  });

  it('200: the query names the bundle where it and the path differ', async () => {
    const { body } = await api.as('admin').put(path('nothing', '?bundle_id=secops/a'), { content: candidate });

    expect(body['bundle_id']).toBe('secops/a');
    expect((await api.as('admin').get(path('secops%2Fa'))).status).toBe(200);
  });

  it('the bundle tells of the shadow of the caller’s tenant, and of no other', async () => {
    const { body } = await put();
    const { content: _text, metadata: _notes, ...head } = body;

    expect((await getBundle('secops~a')).body['shadow']).toEqual(head);
    expect((await api.as('other').get('/api/v1/policy/bundles/secops~a')).body).not.toHaveProperty('shadow');
  });

  it('each tenant has its own, and none sees another’s', async () => {
    await put();
    expect(told(await get('secops~a', api.as('other')))).toEqual(missing);
    expect(told(await remove('secops~a', api.as('other')))).toEqual(missing);

    const { body } = await put({ content: ban('theirs', 'job.c') }, 'secops~a', api.as('other'));

    expect(body).toMatchObject({ tenant_id: 'globex', created_by: 'gus' });
    expect((await get()).body['content']).toBe(candidate);
  });

  it('204, and then 404: it ends, also for the bundle', async () => {
    await put();

    expect((await remove()).status).toBe(204);

    expect(told(await get())).toEqual(missing);
    expect(told(await remove())).toEqual(missing);
    expect((await getBundle('secops~a')).body).not.toHaveProperty('shadow');
  });

  it('the policy audit of the tenant tells who tried and ended what', async () => {
    const { body } = await put();
    await remove();

    const { items } = (await api.as('admin').get('/api/v1/policy/audit?type=policy')).body as { items: object[] };
    const shadow = { resource_type: 'policy', resource_id: 'secops/a', actor_id: 'ann', bundle_ids: ['secops/a'] };
    expect(items.slice(0, 2)).toMatchObject([
      { ...shadow, action: 'shadow_deactivate', extra: { shadow_bundle_id: body['shadow_bundle_id'] } },
      { ...shadow, action: 'shadow_activate', extra: { shadow_bundle_id: body['shadow_bundle_id'] } },
    ]);
  });

  it('404: a bundle that is not there; one that went leaves its shadow', async () => {
    expect(told(await put(undefined, 'secops~none'))).toEqual({ status: 404, code: 'bundle_not_found' });
    await put();
    await removeBundle('secops~a');

    expect((await get()).status).toBe(200);
  });

  it('400 POLICY_VALIDATION_FAILED: with the line', async () => {
    const answer = await put({ content: 'rules: []\nrulez: []' });

    expect(told(answer)).toEqual({ status: 400, code: 'POLICY_VALIDATION_FAILED' });
    expect(answer.body['violations']).toMatchObject([{ in: 'body', field: 'content', line: 2 }]);
    expect(told(await get())).toEqual(missing);
  });

  it('400: notes that are none, or too many', async () => {
    const tooMany = Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`k${i}`, 'v']));

    for (const metadata of [{ a: 1 }, { a: { b: 'c' } }, { '': 'x' }, tooMany, { a: 'x'.repeat(1_025) }]) {
      expect(told(await put({ content: candidate, metadata }))).toEqual({ status: 400, code: 'invalid_body' });
    }
  });

  it('413: the shadows of a tenant have 4 MiB together, and one that is replaced does not count', async () => {
    const large = (bytes: number) => `# ${'x'.repeat(bytes)}\n${candidate}`;
    for (const name of ['b', 'c']) await putBundle(`secops~${name}`, { content: ban(name, 'job.x') });
    const half = 2_000_000;
    expect((await put({ content: large(half) })).status).toBe(200);
    expect((await put({ content: large(half) }, 'secops~b')).status).toBe(200);

    expect(told(await put({ content: large(half) }, 'secops~c'))).toEqual({ status: 413, code: 'request_too_large' });
    expect((await put({ content: large(half + 1) })).status).toBe(200);
    expect((await put({ content: large(half) }, 'secops~c', api.as('other'))).status).toBe(200);
  });

  it('409 POLICY_SHADOW_CONFLICT: of two writes that raced, one', async () => {
    const { shadows } = api.store;
    const write = shadows.write.bind(shadows);
    jest.spyOn(shadows, 'write').mockImplementationOnce(async (...args) => {
      await put({ content: ban('faster', 'job.d') });
      return write(...args);
    });

    expect(told(await put())).toEqual({ status: 409, code: 'POLICY_SHADOW_CONFLICT' });
    expect((await get()).body['content']).toBe(ban('faster', 'job.d'));
  });

  it('403: only admins write and read them', async () => {
    for (const who of ['operator', 'user'] as const) {
      const calls = [
        put(undefined, 'secops~a', api.as(who)),
        get('secops~a', api.as(who)),
        remove('secops~a', api.as(who)),
      ];
      for (const answer of await Promise.all(calls)) expect(answer.status).toBe(403);
    }
  });
});

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
    it('200: counts what lies in the window, and names the shadow that is there', async () => {
      await putBundle('secops~a', { content: candidate });
      const { body: shadow } = await api.as('admin').put('/api/v1/policy/shadows/secops~a', { content: candidate });
      await given([
        [window.from - 1, 'escalated'],
        [window.from, 'escalated'],
        [now, 'escalated'],
        [now, 'relaxed'],
        [now, 'approval_differ'],
        [now, 'unchanged'],
        [window.to, 'unchanged'],
      ]);

      expect(await query('summary', window)).toMatchObject({
        status: 200,
        body: {
          bundle_id: 'secops/a',
          shadow_bundle_id: shadow['shadow_bundle_id'],
          from_ms: window.from,
          to_ms: window.to,
          total_evaluated: 5,
          escalated_count: 2,
          relaxed_count: 1,
          approval_differ_count: 1,
          unchanged_count: 1,
          truncated_at_max: false,
        },
      });
    });

    it('200: after the shadow ended its results stay, under the name it had last', async () => {
      await given([[now - hour, 'relaxed']], 'acme', 'shadow-of-old');
      await given([[now, 'relaxed']], 'acme', 'shadow-of-late');

      const { body } = await query('summary', window);

      expect(body).toMatchObject({ shadow_bundle_id: 'shadow-of-late', total_evaluated: 2 });
      expect(told(await query('summary', window, api.as('other')))).toEqual({ status: 404, code: 'shadow_policy_not_found' }); // prettier-ignore
    });

    it('200: the counts of a window are read once a minute', async () => {
      await given([[now - hour, 'relaxed']]);
      const other = { ...window, to: window.to + 1 };
      expect((await query('summary', window)).body['total_evaluated']).toBe(1);
      await given([[now, 'relaxed']]);

      expect((await query('summary', window)).body['total_evaluated']).toBe(1);
      expect((await query('summary', other)).body['total_evaluated']).toBe(2);
    });

    it('200: of more than 10,000 results it counts the newest, and says so', async () => {
      await given(Array.from({ length: 10_001 }, (_, i) => [now - 20_000 + i, i === 0 ? 'escalated' : 'unchanged']));

      const { body } = await query('summary', { ...window, to: window.to + 2 });

      expect(body).toMatchObject({ total_evaluated: 10_000, escalated_count: 0, truncated_at_max: true });
      const inside = { from: now - 19_999, to: now };
      expect((await query('summary', inside)).body).toMatchObject({ total_evaluated: 10_000, truncated_at_max: false });
      const series = (await query('timeseries', { ...window, bucket: '1d' })).body;
      expect(series['truncated_at_max']).toBe(true);
    });
  });

  describe('comparisons', () => {
    const entries = async (more: object = {}, as?: Calls) => {
      const { body } = await query('comparisons', { ...window, ...more }, as);
      return body as { entries: { job_id: string; ts_ms: number }[]; next_cursor: string; truncated_at_max: boolean };
    };

    it('200: newest first, with all that is known of each', async () => {
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

    it.each(['all', 'relaxed'])('200: pages of %s lead from one to the next, each result once', async (diff) => {
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

    it('200: a search that stops early can be gone on with', async () => {
      await given(Array.from({ length: 10_010 }, (_, i) => [now - 20_000 + i, i < 5 ? 'escalated' : 'unchanged']));

      const first = await entries({ diff: 'escalated' });
      expect(first).toMatchObject({ entries: [], truncated_at_max: true });
      const second = await entries({ diff: 'escalated', cursor: first.next_cursor });

      expect(second.entries.map(({ job_id }) => job_id)).toEqual(['j4', 'j3', 'j2', 'j1', 'j0']);
      expect(second).toMatchObject({ next_cursor: '', truncated_at_max: false });
    });

    it('200: none of another tenant’s', async () => {
      await given([[now, 'relaxed']]);
      await given([[now, 'relaxed'], [now, 'relaxed']], 'globex'); // prettier-ignore

      expect((await entries()).entries).toHaveLength(1);
      expect((await entries({}, api.as('other'))).entries).toHaveLength(2);
    });
  });

  describe('timeseries', () => {
    it('200: every bucket of the time, the first from its beginning', async () => {
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
      ['a bucket nobody knows', { bucket: '2h' }],
      ['more than 2000 buckets', { from: 0, to: 2_001 * 60_000, bucket: '1m' }],
    ])('400 POLICY_SHADOW_QUERY_INVALID: %s', async (_, more) => {
      expect(told(await query('timeseries', { ...window, ...more }))).toEqual(invalid);
    });
  });

  it.each(['summary', 'comparisons', 'timeseries'] as const)('400, 404: %s of a bad window, or of nothing', async (part) => {
    const day = 24 * hour;
    for (const bad of [{ from: 5, to: 5 }, { from: 5, to: 4 }, { from: 0, to: 30 * day + 1 }, { from: 'x' }, { to: '' }, { from: -1 }]) {
      const answer = await query(part, { ...asked[part], ...bad });
      expect(told(answer)).toEqual(invalid);
      expect(answer.body['violations']).toEqual([expect.objectContaining({ in: 'query' })]);
    }
    expect(told(await query(part, {}))).toEqual(invalid);
    expect(told(await query(part, asked[part]))).toEqual({ status: 404, code: 'shadow_policy_not_found' });
    expect((await query(part, asked[part], api.as('operator'))).status).toBe(403);
  }); // prettier-ignore

  it.each([{ diff: 'worse' }, { limit: '0' }, { limit: '501' }, { limit: 'x' }, { cursor: 'x' }, { cursor: '1' }])(
    '400 POLICY_SHADOW_QUERY_INVALID: comparisons with %j',
    async (more) => {
      expect(told(await query('comparisons', { ...window, ...more }))).toEqual(invalid);
    },
  );
});

describe('what a shadow policy would decide about a job that ends at the gateway', () => {
  const live = `
rules:
  - { id: never, decision: deny, match: { topics: [job.demo.echo] } }
  - { id: ask, decision: require_approval, match: { topics: [job.demo.ask] } }
  - { id: slow, decision: throttle, throttle_duration: 5s, match: { topics: [job.demo.slow] } }
`;
  const shadow = `
rules:
  - { id: ask-instead, decision: require_approval, match: { topics: [job.demo.echo] } }
  - { id: ask, decision: require_approval, match: { topics: [job.demo.ask] } }
  - { id: no-more, decision: deny, match: { topics: [job.demo.slow] } }
`;
  const api = useApi({ env: { POOL_CONFIG_PATH: `${__dirname}/../../../../../config/pools.yaml` } });
  const { put: putBundle, submit } = bundleCalls(api);
  const comparisons = async () => {
    const query = `from=${Date.now() - hour}&to=${Date.now() + hour}`;
    const path = `/api/v1/policy/shadows/secops~invariants/results/comparisons?${query}`;
    return (await api.as('admin').get(path)).body['entries'] as Record<string, string>[];
  };

  it('is recorded once: of a denied, a held and a throttled job, and of none that the scheduler asks about again', async () => {
    await putBundle('secops~invariants', { content: live });
    await api.as('admin').put('/api/v1/policy/shadows/secops~invariants', { content: shadow });
    await eventually(async () => expect((await submit('job.demo.echo')).status).toBe(403));
    await eventually(async () => {
      await submit('job.demo.echo');
      expect(await comparisons()).not.toEqual([]);
    });
    const before = (await comparisons()).length;

    expect((await submit('job.default')).status).toBe(200);
    expect((await submit('job.demo.ask')).status).toBe(202);
    expect((await submit('job.demo.slow')).status).toBe(429);

    const found = await eventually(async () => {
      const all = await comparisons();
      expect(all).toHaveLength(before + 2);
      return all;
    });
    const facts = ({ active_verdict, shadow_verdict, diff, active_rule_id, shadow_rule_id }: Record<string, string>) =>
      [active_verdict, shadow_verdict, diff, active_rule_id, shadow_rule_id]; // prettier-ignore
    expect(found.slice(0, 3).map(facts)).toEqual([
      ['THROTTLE', 'DENY', 'escalated', 'slow', 'no-more'],
      ['REQUIRE_APPROVAL', 'REQUIRE_APPROVAL', 'unchanged', 'ask', 'ask'],
      ['DENY', 'REQUIRE_APPROVAL', 'approval_differ', 'never', 'ask-instead'],
    ]);
  });
});
