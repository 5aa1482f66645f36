import type { LoggedDecision } from '@svc/governance';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import { decision } from '../governance/decisions.testing';
import { evalCalls, readItems } from './evals.testing';

describe('POST /api/v1/evals/datasets/from-incidents', () => {
  const api = useApi();
  const { get, run } = evalCalls(api);
  const extract = (body: object = {}, query = '') =>
    api.as('admin').post(`/api/v1/evals/datasets/from-incidents${query}`, { name: 'incidents', ...body });
  const log = (...decisions: Partial<LoggedDecision>[]) =>
    api.ctx.governance.decisionLog.appendDecisions(
      'acme',
      decisions.map((one, i) => decision({ position: i + 1, ...one })),
    );

  it('201: denials and holds of jobs become entries that the policy in effect passes', async () => {
    const labels = { team: 'blue', note: 'key AKIAIOSFODNN7EXAMPLE', _source: 'api' };
    const stored = await api.given.job({
      ...{ topic: 'job.demo.wipe', state: 'DENIED', labels },
      request: { risk_tags: ['destructive'], capability: 'shell', requires: ['gpu'] },
    });
    await log(
      { jobId: stored, topic: 'job.demo.wipe', ruleId: 'demo-no-wipe', verdict: 'deny', reason: 'no' },
      { jobId: 'gone', topic: 'job.demo.wipe', riskTags: ['destructive'], agentId: 'a1', verdict: 'deny' },
      { jobId: 'ok', topic: 'job.demo.echo', verdict: 'allow' },
    );

    const { status, body } = await extract({ description: 'of today' });

    expect({ status, body }).toEqual({
      status: 201,
      body: {
        dataset_id: expect.any(String) as string,
        ...{ name: 'incidents', version: 1, entry_count: 2, deduped_count: 0, scanned_decisions: 3 },
        warnings: ['1 entries have no labels and requirements, because their jobs are no longer stored'],
      },
    });
    const dataset = (await get(`datasets/${String(body['dataset_id'])}`)).body;
    expect(dataset['entries']).toEqual([
      {
        id: expect.stringMatching(/^audit-[0-9a-f]{16}$/) as string,
        input: { tenant: 'acme', topic: 'job.demo.wipe', agent_id: 'a1', risk_tags: ['destructive'], requires: [] },
        ...{ expected_decision: 'DENY', source: 'audit-import', source_ref: 'gone' },
      },
      {
        id: expect.any(String) as string,
        input: {
          ...{ tenant: 'acme', topic: 'job.demo.wipe', capability: 'shell', capabilities: ['shell'] },
          ...{ risk_tags: ['destructive'], requires: ['gpu'], labels: { team: 'blue', note: 'key [REDACTED]' } },
        },
        ...{
          expected_decision: 'DENY',
          source: 'audit-import',
          source_ref: stored,
          rule_id: 'demo-no-wipe',
          notes: 'no',
        },
      },
    ]);
    expect((await run(String(body['dataset_id']))).body['summary']).toMatchObject({ total: 2, passed: 2 });
  });

  it('201: decisions about equal jobs are one entry; at most max_entries, the newest', async () => {
    const topics = ['job.a', 'job.b', 'job.a', 'job.c', 'job.a'];
    await log(...topics.map((topic, i) => ({ topic, jobId: `j${i}`, verdict: 'deny' as const })));

    expect((await extract()).body).toMatchObject({ entry_count: 3, deduped_count: 2, version: 1 });
    const { body } = await extract({ max_entries: 2 });
    expect(body).toMatchObject({ entry_count: 2, version: 2 });
    expect(body['warnings']).toContain('there are more matching decisions; the newest were used');
  });

  it('200: a dry run stores nothing; filters by topic, rule, agent, verdict and time', async () => {
    await log(
      { topic: 'job.pay.refund', ruleId: 'big', agentId: 'a1', verdict: 'require_approval' },
      { topic: 'job.pay.wire', ruleId: 'wire', verdict: 'deny' },
      { topic: 'job.mail', ruleId: 'pace', verdict: 'throttle', atMs: Date.now() - 1_000 },
    );
    const count = async (body: object) => {
      const answer = await extract(body, '?dry_run=true');
      return answer.status === 404 ? 0 : answer.body['entry_count'];
    };

    expect(await count({ topic: 'job.pay.*' })).toBe(2);
    expect(await count({ topic: 're:^job\\.(mail|pay\\.wire)$', verdicts: ['deny', 'throttle'] })).toBe(2);
    expect(await count({ rule_id: 'big', agent_id: 'a1' })).toBe(1);
    expect(await count({ since: Date.now() + 60_000, until: Date.now() + 120_000 })).toBe(0);
    const { status, body } = await extract({ dry_run: true });
    expect({ status, id: body['dataset_id'], version: body['version'] }).toEqual({ status: 200, id: '', version: 1 });
    expect(readItems(await get('datasets'))).toEqual([]);
  });

  it('404: no decision matches; 429: after six extractions per hour', async () => {
    for (let i = 0; i < 6; i++) expect(statusAndCode(await extract())).toEqual({ status: 404, code: 'EVAL_EXTRACTION_FAILED' }); // prettier-ignore

    expect(statusAndCode(await extract())).toEqual({ status: 429, code: 'rate_limited' });
    expect(await api.metrics()).toMatch(/svc_evals_extraction_total\{[^}]*verdict="empty"[^}]*\} [6-9]/);
  });

  it.each([
    ['a period of more than 90 days', { since: '2026-01-01T00:00:00Z', until: '2026-06-01T00:00:00Z' }],
    ['a period that ends before it begins', { since: 2_000, until: 1_000 }],
    ['a pattern that looks ahead', { topic: 're:a(?=b)' }],
  ])('400: %s', async (_, body) => {
    expect(statusAndCode(await extract(body))).toEqual({ status: 400, code: 'EVAL_EXTRACTION_FAILED' });
  });

  it('403: a role that may write datasets but not read governance', async () => {
    api.license('enterprise');
    const refused = await api.as('clerk').post('/api/v1/evals/datasets/from-incidents', { name: 'incidents' });

    expect(statusAndCode(refused)).toEqual({ status: 403, code: 'access_denied' });
  });
});
