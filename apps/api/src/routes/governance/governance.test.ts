import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import { decision, resolution } from './decisions.testing';

const minuteMs = 60_000;

describe('governance', () => {
  const api = useApi();
  const get = (path: string, as = api.as('viewer')) => as.get(`/api/v1/governance/${path}`);
  const log = () => api.ctx.governance.decisionLog;
  const jobs = async (query: string, as = api.as('viewer')) =>
    ((await get(`decisions?${query}`, as)).body['items'] as Record<string, unknown>[]).map(({ job_id }) => job_id);

  describe('GET decisions', () => {
    it('200: newest first, with the approval of the job as it is now', async () => {
      const held = await api.given.job({ state: 'APPROVAL_REQUIRED', topic: 'job.demo.refund' });
      await log().appendDecisions('acme', [
        decision({
          position: 1,
          jobId: 'a',
          verdict: 'constrain',
          constraints: '{"max_output_bytes":1}',
          agentId: 'a1',
        }),
        decision({ position: 2, jobId: held, verdict: 'require_approval', ruleId: 'big', topic: 'job.demo.refund' }),
      ]);

      const { body } = await get('decisions');

      expect(body).toMatchObject({
        next_cursor: '',
        items: [
          { job_id: held, matched_rule: 'big', verdict: 'require_approval', approval_status: 'pending', approval_decision: '' },
          { job_id: 'a', constraints: { max_output_bytes: 1 }, agent_id: 'a1', approval_status: '', policy_version: 's' },
        ],
      }); // prettier-ignore
      await api.as('operator').post(`/api/v1/approvals/${held}/reject`, { reason: 'no' });
      expect((await get('decisions')).body['items']).toMatchObject([
        { approval_status: 'rejected', approval_decision: 'reject' },
        {},
      ]);
    });

    it('200: filters and pages; other tenants see none of it', async () => {
      const atMs = Date.now() - 2 * 3_600_000;
      await log().appendDecisions('acme', [
        decision({ position: 1, jobId: 'old', atMs: Date.now() - 25 * 3_600_000 }),
        decision({ position: 2, jobId: 'a', atMs, topic: 'job.x', ruleId: 'r1' }),
        decision({ position: 3, jobId: 'b', atMs, agentId: 'a1', verdict: 'allow' }),
        decision({ position: 4, jobId: 'c', ruleId: 'r1' }),
      ]);

      expect(await jobs('')).toEqual(['c', 'b', 'a']);
      expect(await jobs('topic=job.x')).toEqual(['a']);
      expect(await jobs('rule_id=r1')).toEqual(['c', 'a']);
      expect(await jobs('agent_id=a1&verdict=allow')).toEqual(['b']);
      expect(await jobs(`since=${atMs - 1}&until=${atMs + 1}`)).toEqual(['b', 'a']);
      expect(await jobs('since=2020-01-01T00:00:00Z')).toEqual(['c', 'b', 'a', 'old']);
      const first = await get('decisions?limit=2');
      expect(await jobs(`limit=2&cursor=${String(first.body['next_cursor'])}`)).toEqual(['a']);
      expect(await jobs('', api.as('otherViewer'))).toEqual([]);
      expect((await get(`decisions?since=${Date.now()}&until=1`)).status).toBe(400);
      expect(await api.metrics()).toMatch(/svc_governance_decisions_query_total\{[^}]*verdict="allow"[^}]*\} 1/);
    });
  });

  describe('GET approvals/analytics and approvals/resolutions', () => {
    beforeEach(async () => {
      await log().appendResolutions('acme', [
        resolution(10_000, { position: 1, ruleId: 'big', by: 'ola' }),
        resolution(30_000, { position: 2, ruleId: 'big', by: 'ann', outcome: 'rejected' }),
        resolution(99_000, { position: 3, ruleId: 'wire', by: '', role: '', outcome: 'expired' }),
      ]);
    });

    it('200: outcomes, and times of resolutions by people', async () => {
      expect((await get('approvals/analytics')).body).toMatchObject({
        summary: {
          ...{ total: 3, approved: 1, rejected: 1, expired: 1, auto_resolved: 1, manual_resolved: 2 },
          ...{ avg_time_to_approve_seconds: 20, p50: 10, p90: 30, p99: 30 },
        },
        truncated_at_max: false,
      });
      const { body } = await get('approvals/analytics?group_by=rule&window=30d');
      expect(body['groups']).toEqual([
        { key: 'big', label: 'big', total: 2, approved: 1, rejected: 1, expired: 0, auto_count: 0, manual_count: 2, avg_ttar_seconds: 20, p90_seconds: 30 },
        { key: 'wire', label: 'wire', total: 1, approved: 0, rejected: 0, expired: 1, auto_count: 1, manual_count: 0, avg_ttar_seconds: null, p90_seconds: null },
      ]); // prettier-ignore
      const approvers = (await get('approvals/analytics?group_by=approver&limit=1')).body['groups'];
      expect(approvers).toMatchObject([{ key: 'ann', avg_ttar_seconds: 30 }]);
      expect((await get(`approvals/analytics?since=2020-01-01T00:00:00Z`)).status).toBe(400);
    });

    it('200: cached for 30 s', async () => {
      await get('approvals/analytics');
      await log().appendResolutions('acme', [resolution(1, { position: 4 })]);

      expect((await get('approvals/analytics')).body).toMatchObject({ summary: { total: 3 } });
      expect(await api.metrics()).toMatch(/analytics_cache_total\{[^}]*outcome="hit"[^}]*\} [1-9]/);
    });

    it('200: who resolved what, and how long it took', async () => {
      const { body } = await get('approvals/resolutions?resolved_by=ann', api.as('operator'));

      expect(body['items']).toMatchObject([
        { resolved_by: 'ann', resolved_role: 'operator', outcome: 'rejected', matched_rule: 'big', waited_seconds: 30 },
      ]);
      expect(statusAndCode(await get('approvals/resolutions'))).toEqual({ status: 403, code: 'access_denied' });
    });
  });

  describe('GET health', () => {
    it('200: a score of four factors; an empty chain is intact', async () => {
      expect((await get('health', api.as('admin'))).body).toMatchObject({
        factors: {
          denial_rate: { score: 70, notes: 'no data in the period' },
          approval_latency_p95: { score: 70, raw: { p95_ms: null, samples: 0 } },
          chain_integrity: { score: 100, raw: 'ok' },
        },
      });
    });

    it('200: denials and slow approvals lower it; 403: the health of another tenant', async () => {
      await log().appendDecisions('globex', [
        decision({ position: 1, verdict: 'deny' }),
        ...[2, 3, 4].map((position) => decision({ position, verdict: 'allow' })),
      ]);
      await log().appendResolutions('globex', [resolution(10 * minuteMs, { position: 1 })]);

      const { body } = await get('health?tenant=globex', api.as('everywhere'));

      expect(body['factors']).toMatchObject({
        denial_rate: { score: 50, raw: { allow: 3, deny: 1, scanned_events: 4 } },
        approval_latency_p95: { score: 0, raw: { p95_ms: 600_000, samples: 1 } },
      });
      expect(statusAndCode(await get('health?tenant=globex', api.as('admin')))).toEqual({ status: 403, code: 'tenant_access_denied' }); // prettier-ignore
    });
  });

  it('GET usage: cost and risk of jobs by agent, team and topic', async () => {
    const paid = await api.given.job({
      state: 'SUCCEEDED',
      topic: 'job.a',
      request: { agent_id: 'a1', team_id: 't1' },
    });
    await api.store.redis.hset(`{s0}:job:${paid}`, 'cost', 2_500_000);
    await api.given.job({ state: 'DENIED', topic: 'job.b', request: { agent_id: 'a2' } });
    await api.given.job({ state: 'FAILED', topic: 'job.b' });
    await api.given.job({ tenant: 'globex' });

    const { body } = await get('usage?group_by=agent', api.as('operator'));

    expect(body).toMatchObject({
      total: { jobs: 3, succeeded: 1, failed: 1, denied: 1, held: 0, cost_usd: 2.5, risk_score: 41.7 },
      groups: [
        { key: 'a1', jobs: 1, cost_usd: 2.5, risk_score: 0 },
        { key: '', jobs: 1, failed: 1, risk_score: 25 },
        { key: 'a2', jobs: 1, denied: 1, risk_score: 100 },
      ],
    });
    const topics = (await get('usage?group_by=topic&limit=1', api.as('operator'))).body['groups'];
    expect(topics).toMatchObject([{ key: 'job.a' }]);
    expect((await get('usage?group_by=team', api.as('operator'))).body['groups']).toMatchObject([{ key: 't1' }, { key: '', jobs: 2 }]); // prettier-ignore
  });

  it('GET coverage: rules that decided about no job in the period, and topics that no rule covers', async () => {
    await api.policy(
      'version: "1"\ndefault_decision: deny\nrules:\n  - { id: used, decision: allow, match: { topics: [job.a.*] } }\n  - { id: unused, decision: deny, match: { topics: [job.b] } }\n  - { id: earlier, decision: deny, match: { topics: [job.c] } }\n',
    );
    for (const name of ['job.a.x', 'job.z']) {
      expect((await api.as('admin').post('/api/v1/topics', { name, pool: 'demo' })).status).toBe(201);
    }
    const atMs = Date.now() - 3 * 86_400_000;
    await log().appendDecisions('acme', [
      decision({ position: 1, ruleId: 'earlier', atMs }),
      decision({ position: 2, ruleId: 'used', verdict: 'allow' }),
      decision({ position: 3, ruleId: '', topic: 'job.unknown' }),
    ]);

    const { body } = await get('coverage', api.as('admin'));

    expect(body).toMatchObject({
      rules: {
        ...{ total: 3, matched: 1 },
        unmatched: [
          { rule_id: 'unused', decision: 'deny', fragment_id: 'base', last_matched_at: null },
          { rule_id: 'earlier', last_matched_at: new Date(atMs).toISOString() },
        ],
      },
    });
    const topics = body['topics'] as { total: number; covered: number; uncovered: object[] };
    expect(topics.uncovered).toEqual(
      expect.arrayContaining([
        { topic: 'job.unknown', registered: false, defaulted_at: expect.any(String) as string },
        { topic: 'job.z', registered: true, defaulted_at: null },
      ]),
    );
    expect(JSON.stringify(topics.uncovered)).not.toContain('job.a.x');
    expect(topics.total - topics.covered).toBe(topics.uncovered.length - 1);
    expect((await get('coverage?window=7d', api.as('admin'))).body).toMatchObject({ rules: { matched: 2 } });
    expect(statusAndCode(await get('coverage', api.as('operator')))).toEqual({ status: 403, code: 'access_denied' });
    await api.policy();
  });
});
