import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import { ban } from '../policy/policy.testing';
import { entry, evalCalls, readItems, many, passing } from './evals.testing';

describe('comparisons on an evaluation dataset', () => {
  const api = useApi();
  const { dataset, get, run, compare, del } = evalCalls(api);
  const banning = (topic: string) => ({
    candidate_bundle_id: 'secops/invariants',
    candidate_content: ban('no', topic),
  });

  it('200: entries that differ, with direction and effect; read again as returned, listed and reported', async () => {
    const id = await dataset('compared', [...passing, entry('should-be-banned', 'job.demo.other', 'DENY')]);

    const { status, body } = await compare(id, {}, banning('job.demo.*'));

    expect({ status, counts: body['counts'] }).toEqual({
      status: 200,
      counts: { total: 4, unchanged: 1, escalated: 3, relaxed: 0, fixed: 1, broken: 2, errored: 0 },
    });
    expect(body).toMatchObject({
      left: { policy: { kind: 'current' }, summary: { passed: 3, regressions: 1 } },
      right: { policy: { kind: 'content', bundle_id: 'secops/invariants' }, summary: { passed: 2 } },
      differences: [
        { entry_id: 'echo', topic: 'job.demo.echo', direction: 'escalated', effect: 'broken', left: { decision: 'ALLOW', rule_id: 'demo-allowed' }, right: { decision: 'DENY', rule_id: 'no', status: 'fail' } },
        { entry_id: 'refund', direction: 'escalated', effect: 'broken' },
        { entry_id: 'should-be-banned', direction: 'escalated', effect: 'fixed', left: { status: 'regression' } },
      ],
    }); // prettier-ignore
    const comparison = String(body['comparison_id']);
    expect(await get(`comparisons/${comparison}`)).toMatchObject({ status: 200, body });
    expect(readItems(await get(`datasets/${id}/comparisons`))).toMatchObject([
      { comparison_id: comparison, status: 'completed', counts: body['counts'] },
    ]);
    const { markdown } = (await get(`comparisons/${comparison}/report`)).body;
    expect(markdown).toContain('# Comparison on compared, version 1');
    expect(markdown).toContain('The right policy breaks 2 entries and fixes 1.');
    expect(markdown).toMatch(
      /\| echo \| job\.demo\.echo \| ALLOW \| ALLOW by demo-allowed \| DENY by no \| escalated \|/,
    );
  });

  it('200: exchanged policies have the opposite directions', async () => {
    const id = await dataset('mirrored', passing);

    const { body } = await compare(id, banning('job.demo.echo'), { use_current_policy: true });

    expect(body['counts']).toMatchObject({ relaxed: 1, escalated: 0, fixed: 1, broken: 0 });
  });

  it('200: names in the report are text, whatever they contain', async () => {
    const id = await dataset('hostile', [entry('a|b](x)\n# c', 'job.demo.echo', 'ALLOW')]);
    const { comparison_id } = (await compare(id, {}, banning('job.demo.echo'))).body;

    const { markdown } = (await get(`comparisons/${String(comparison_id)}/report`)).body;

    expect(markdown).toContain('| a\\|b\\](x) \\# c |');
  });

  it('202: a large comparison continues in the background, is no run, and shares the lock and the starts of runs', async () => {
    const id = await dataset('large', many(501));

    const { status, body } = await compare(id, {}, banning('job.demo.echo'));

    const comparison = String(body['comparison_id']);
    expect(status).toBe(202);
    expect((await get(`comparisons/${comparison}`)).status).toBe(202);
    expect((await get(`comparisons/${comparison}/report`)).status).toBe(202);
    expect(statusAndCode(await get(`runs/${comparison}`))).toEqual({ status: 404, code: 'eval_run_not_found' });
    expect(statusAndCode(await run(id))).toEqual({ status: 409, code: 'EVAL_RUN_CONFLICT' });
    expect((await del(`comparisons/${comparison}?force=true`)).status).toBe(204);
    expect((await run(id, { max_entries: 1 })).status).toBe(200);
    expect(statusAndCode(await get(`comparisons/${comparison}`))).toEqual({ status: 404, code: 'eval_comparison_not_found' }); // prettier-ignore
  });

  it('400: a side without a usable policy', async () => {
    const answer = await compare(await dataset('set', many(1)), {}, { use_current_policy: false });

    expect(statusAndCode(answer)).toEqual({ status: 400, code: 'EVAL_RUN_NOT_RUNNABLE' });
  });
});
