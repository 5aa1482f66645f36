import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import { ban, bundleCalls } from '../policy/policy.testing';
import { entry, evalCalls, readItems, many, passing } from './evals.testing';

describe('runs of an evaluation dataset', () => {
  const api = useApi();
  const { dataset, get, run, del } = evalCalls(api);
  const bundles = bundleCalls(api);
  const statuses = (body: Record<string, unknown>) =>
    (body['entries'] as Record<string, unknown>[]).map(({ entry_id, status, actual_decision, drift_direction, rule_id }) => [
      entry_id, status, actual_decision, drift_direction, rule_id,
    ]); // prettier-ignore

  it('200: the policy in effect, by default; the result is stored as it was returned', async () => {
    const id = await dataset('shipped', passing);
    const [snapshot] = await api.kernel.listSnapshots();

    const { status, body } = await run(id);

    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        ...{ dataset_id: id, dataset_name: 'shipped', dataset_version: 1, tenant: 'acme', status: 'completed' },
        ...{ policy: { kind: 'current' }, policy_snapshot: snapshot },
        summary: { total: 3, passed: 3, failed: 0, regressions: 0, errored: 0, score_percent: 100 },
      },
    });
    expect(statuses(body)).toEqual([
      ['echo', 'pass', 'ALLOW', 'unchanged', 'demo-allowed'],
      ['wipe', 'pass', 'DENY', 'unchanged', 'demo-no-wipe'],
      ['refund', 'pass', 'REQUIRE_APPROVAL', 'unchanged', 'demo-big-refund'],
    ]);
    const read = await get(`runs/${String(body['run_id'])}`);
    expect(read).toMatchObject({ status: 200, body });
  });

  it('200: a text in place of a bundle, an additional text, and a stored draft, without an effect on jobs', async () => {
    const id = await dataset('candidates', passing);
    await bundles.put('secops~draft', { content: ban('draft-ban', 'job.demo.echo'), enabled: false });
    const candidate_content = ban('no-echo', 'job.demo.echo');
    const outcome = async (body: object) => {
      const answer = (await run(id, body)).body;
      const [first] = answer['entries'] as Record<string, unknown>[];
      return [answer['policy'], first?.['status'], first?.['drift_direction'], first?.['rule_id']];
    };
    const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/) as string;

    expect(await outcome({ candidate_bundle_id: 'secops/invariants', candidate_content })).toEqual([
      { kind: 'content', bundle_id: 'secops/invariants', sha256 }, 'fail', 'escalated', 'no-echo',
    ]); // prettier-ignore
    expect(await outcome({ candidate_bundle_id: 'secops/draft' })).toEqual([
      { kind: 'bundle', bundle_id: 'secops/draft', sha256 }, 'pass', 'unchanged', 'demo-allowed',
    ]); // prettier-ignore
    expect((await outcome({ candidate_content, use_current_policy: false }))[0]).toEqual({ kind: 'content', sha256 });
    expect((await bundles.submit('job.demo.echo')).status).toBe(200);
  });

  it('200: a regression is ALLOW where it is not expected; the score counts errors as not passed', async () => {
    const id = await dataset('failing', [
      entry('relaxed', 'job.demo.echo', 'DENY'),
      entry('stricter', 'job.demo.wipe', 'ALLOW', { risk_tags: ['destructive'] }),
      ...passing,
    ]);

    const { body } = await run(id, { max_entries: 3 });

    expect(body['summary']).toEqual({
      total: 3,
      passed: 1,
      failed: 1,
      regressions: 1,
      errored: 0,
      score_percent: 33.33,
    });
    expect(statuses(body).slice(0, 2)).toEqual([
      ['relaxed', 'regression', 'ALLOW', 'relaxed', 'demo-allowed'],
      ['stricter', 'fail', 'DENY', 'escalated', 'demo-no-wipe'],
    ]);
  });

  it('200: velocity windows neither count nor fire, and no decision is recorded', async () => {
    const id = await dataset('burst', many(20).map((one) => ({ ...one, input: { topic: 'job.demo.burst' } }))); // prettier-ignore
    await run(id);
    const { body } = await run(id);

    expect(new Set(statuses(body).map(([, , decision]) => decision))).toEqual(new Set(['ALLOW']));
    expect(await api.store.redis.keys('svc:velocity:*')).toEqual([]);
    expect((await bundles.submit('job.demo.burst')).status).toBe(200);
  });

  it('200: of several capabilities the strictest decision counts; the tenant of an input is that of the dataset', async () => {
    await api.policy(
      'version: "1"\ndefault_decision: allow\nrules:\n  - { id: no-root, decision: deny, match: { capabilities: [root] } }\n  - { id: ours, decision: require_approval, match: { tenants: [acme], topics: [job.tenant] } }\n',
    );
    const id = await dataset('capable', [
      entry('both', 'job.a', 'DENY', { capabilities: ['shell', 'root'] }),
      entry('one', 'job.a', 'ALLOW', { capability: 'shell' }),
      entry('tenant', 'job.tenant', 'REQUIRE_APPROVAL', { tenant: 'globex' }),
    ]);

    expect((await run(id)).body['summary']).toMatchObject({ passed: 3 });
    await api.policy();
  });

  it.each([
    ['both', { use_current_policy: true, candidate_content: 'rules: []' }],
    ['neither', { use_current_policy: false }],
    ['a bundle that does not exist', { candidate_bundle_id: 'secops/none' }],
  ])('400: %s', async (_, body) => {
    const answer = await run(await dataset('set', many(1)), body);

    expect(statusAndCode(answer)).toEqual({ status: 400, code: 'EVAL_RUN_NOT_RUNNABLE' });
  });

  it('400: an invalid text leaves the dataset free for another run', async () => {
    const id = await dataset('set', many(1));

    const answer = await run(id, { candidate_content: 'rules:\n  - {id: r, decision: perhaps}\n' });

    expect(statusAndCode(answer)).toEqual({ status: 400, code: 'POLICY_VALIDATION_FAILED' });
    expect((await run(id)).status).toBe(200);
  });

  it('429: after 12 runs per hour, with the time of the next', async () => {
    const id = await dataset('set', many(1));
    for (let i = 0; i < 12; i++) expect((await run(id)).status).toBe(200);

    const refused = await run(id);

    expect(statusAndCode(refused)).toEqual({ status: 429, code: 'rate_limited' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_500);
    expect(readItems(await get(`datasets/${id}/runs`))).toHaveLength(12);
  });

  it('202: more than 500 entries are pending with a queue entry; 409: another run of the dataset; other datasets are free', async () => {
    const [id, other] = [await dataset('large', many(501)), await dataset('small', many(1))];

    const { status, body } = await run(id);

    const run_id = String(body['run_id']);
    expect({ status, body }).toEqual({
      status: 202,
      body: { run_id, status: 'pending', poll_url: `/api/v1/evals/runs/${run_id}` },
    });
    expect(await get(`runs/${run_id}`)).toMatchObject({
      status: 202,
      body: { run_id, status: 'pending', evaluated: 0, total: 501, dataset_name: 'large' },
    });
    expect(statusAndCode(await run(id))).toEqual({ status: 409, code: 'EVAL_RUN_CONFLICT' });
    expect((await run(other)).status).toBe(200);
    expect(await api.store.redis.llen('{s0}:eval-runs:wait')).toBe(1);
  });

  it('200: a pending run that lost its owner is failed, and the dataset is free again', async () => {
    const id = await dataset('large', many(501));
    const { run_id } = (await run(id)).body;
    await api.store.redis.del(`{s0}:evals:lock:${id}`);

    const read = await get(`runs/${String(run_id)}`);

    expect(read).toMatchObject({
      status: 200,
      body: { status: 'failed', error: expect.stringMatching(/stopped/) as string },
    });
    expect((await run(id, { max_entries: 2 })).status).toBe(200);
  });

  it('200: lists are newest first and filtered by regression, score and time', async () => {
    const id = await dataset('listed', [...passing, entry('relaxed', 'job.demo.echo', 'DENY')]);
    const ids: unknown[] = [];
    for (const max_entries of [3, 4, 1]) ids.push((await run(id, { max_entries })).body['run_id']);
    const found = async (query: string) =>
      readItems(await get(`datasets/${id}/runs?${query}`)).map(({ run_id }) => ids.indexOf(run_id));

    expect(await found('')).toEqual([2, 1, 0]);
    expect(await found('has_regression=true')).toEqual([1]);
    expect(await found('has_regression=false')).toEqual([2, 0]);
    expect(await found('min_score=90')).toEqual([2, 0]);
    expect(await found(`since=${Date.now() + 60_000}`)).toEqual([]);
    const first = await get(`datasets/${id}/runs?limit=2`);
    expect(readItems(first)[0]).not.toHaveProperty('entries');
    expect(await found(`limit=2&cursor=${String(first.body['next_cursor'])}`)).toEqual([0]);
  });

  it('204: a deleted run; its dataset can be deleted before, and the run keeps the inputs', async () => {
    const id = await dataset('kept', passing);
    const { run_id } = (await run(id)).body;
    const path = `runs/${String(run_id)}`;

    expect((await del(`datasets/${id}?force=true`)).status).toBe(204);
    expect(((await get(path)).body['entries'] as unknown[])[1]).toMatchObject({
      input: { risk_tags: ['destructive'] },
    });
    expect((await del(path)).status).toBe(400);
    expect((await del(`${path}?force=true`)).status).toBe(204);
    expect(statusAndCode(await get(path))).toEqual({ status: 404, code: 'eval_run_not_found' });
    expect((await api.store.redis.keys('*evals:result:*')).length).toBe(0);
  });
});

describe('a run while the kernel is unavailable', () => {
  const api = useApi({ env: { SAFETY_KERNEL_ADDR: '127.0.0.1:1' } });
  const { dataset, get, run } = evalCalls(api);

  it('503: the run is failed with the reason, and the dataset is free', async () => {
    const id = await dataset('set', many(3));

    expect(statusAndCode(await run(id))).toEqual({ status: 503, code: 'safety_unavailable' });
    expect(statusAndCode(await run(id))).toEqual({ status: 503, code: 'safety_unavailable' });
    expect(readItems(await get(`datasets/${id}/runs`))).toMatchObject([
      { status: 'failed', error: 'the policy service is unavailable' },
      { status: 'failed' },
    ]);
  });
});
