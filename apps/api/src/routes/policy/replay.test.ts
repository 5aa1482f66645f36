import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import { ban } from './policy.testing';

const hour = 3_600_000;
const at = (ms: number) => new Date(Date.now() + ms).toISOString();
const range = () => ({ from: at(-hour), to: at(hour) });

describe('POST /api/v1/policy/replay', () => {
  const api = useApi();
  const replay = (body: object, as = api.as('admin')) => as.post('/api/v1/policy/replay', { ...range(), ...body });
  const current = { use_current_policy: true };
  const trying = (content: string) => ({ candidate_bundle_id: 'secops/invariants', candidate_content: content });
  const submit = async (body: object) => {
    const answer = await api.as('user').post('/api/v1/jobs', { prompt: 'x', ...body });
    return String(answer.body['job_id']);
  };

  it('200: no changes on the policy that decided, for any jobs', async () => {
    await submit({ topic: 'job.demo.echo' });
    await submit({ topic: 'job.demo.refund', context: { amount: 900 } });
    await submit({ topic: 'job.demo.wipe', risk_tags: ['destructive'] });
    const [snapshot] = await api.kernel.listSnapshots();

    const { status, body } = await replay(current);

    expect(status).toBe(200);
    expect(body).toMatchObject({
      replay_id: expect.stringMatching(/./) as string,
      policy_snapshot: snapshot,
      summary: { total_jobs: 3, evaluated: 3, escalated: 0, relaxed: 0, unchanged: 3, errored: 0 },
      changes: [],
      errors: [],
    });
    expect(body['rule_hits']).toHaveLength(3);
    expect(JSON.stringify(body['warnings'])).toMatch(/velocity.*content rules/);
  });

  it('200: a candidate bundle reports denied jobs, without side effects', async () => {
    const [echo, other] = [await submit({ topic: 'job.demo.echo' }), await submit({ topic: 'job.demo.other' })];
    const denied = await api.given.job({ topic: 'job.demo.free', state: 'DENIED' });

    const { body } = await replay(trying(ban('no-echo', 'job.demo.echo')));

    expect(body['summary']).toEqual({ total_jobs: 3, evaluated: 3, escalated: 1, relaxed: 1, unchanged: 1, errored: 0 });
    expect(body['changes']).toEqual(
      expect.arrayContaining([
        {
          job_id: echo, topic: 'job.demo.echo', tenant: 'acme', original_decision: 'ALLOW', new_decision: 'DENY',
          new_rule_id: 'no-echo', new_reason: 'matched rule no-echo', direction: 'escalated',
        },
        expect.objectContaining({ job_id: denied, original_decision: 'DENY', new_decision: 'ALLOW', direction: 'relaxed' }),
      ]),
    );
    expect(JSON.stringify(body['changes'])).not.toContain(other);
    expect((await api.as('admin').get(`/api/v1/jobs/${echo}/decisions`)).body).toHaveLength(1);
    expect((await api.kernel.listSnapshots())[0]).not.toBe(body['policy_snapshot']);
  });

  it('200: filters; the newest jobs if there are more than the maximum', async () => {
    for (const topic of ['job.demo.a', 'job.demo.b', 'job.demo.a']) await submit({ topic });
    await api.given.job({ topic: 'job.demo.a', state: 'DENIED' });
    const total = async (body: object) => {
      const answer = (await replay({ ...current, ...body })).body;
      return (answer['summary'] as Record<string, number>)['total_jobs'];
    };

    expect(await total({})).toBe(4);
    expect(await total({ filters: { topic_pattern: 'job.*.A' } })).toBe(3);
    expect(await total({ filters: { original_decision: 'DENY' } })).toBe(1);
    expect(await total({ filters: { tenant: 'acme' } })).toBe(4);
    expect(await total({ max_jobs: 2 })).toBe(2);
    expect(await total({ from: at(-2 * hour), to: at(-hour) })).toBe(0);
    const { body } = await replay({ ...current, max_jobs: 2 });
    expect(JSON.stringify(body['warnings'])).toContain('only the newest 2 jobs');
  });

  it('200: a job whose input has expired is replayed without it, with a warning', async () => {
    const id = await submit({ topic: 'job.demo.refund', context: { amount: 900 } });
    await api.store.redis.del(`ctx:${id}`);

    const { body } = await replay(current);

    expect(body['summary']).toMatchObject({ relaxed: 1 });
    expect(JSON.stringify(body['warnings'])).toContain('the input of 1 jobs is gone');
  });

  it('200: jobs of the caller’s tenant only; of all or the named tenant for callers with access to all', async () => {
    await submit({ topic: 'job.demo.echo' });
    await api.given.job({ tenant: 'globex' });
    const tenants = async (as: 'admin' | 'other' | 'everywhere', filters: object = {}) => {
      const { body } = await replay({ ...trying(ban('all', '"*"')), filters }, api.as(as));
      return (body['changes'] as { tenant: string }[]).map(({ tenant }) => tenant).sort();
    };

    expect(await tenants('admin')).toEqual(['acme']);
    expect(await tenants('other')).toEqual(['globex']);
    expect(await tenants('everywhere')).toEqual(['acme', 'globex']);
    expect(await tenants('everywhere', { tenant: 'globex' })).toEqual(['globex']);
    expect(statusAndCode(await replay({ ...current, filters: { tenant: 'globex' } }))).toEqual({ status: 403, code: 'tenant_access_denied' });
  });

  it.each([
    ['no policy to replay on', {}, 'candidate_content'],
    ['a bundle without its text', { candidate_bundle_id: 'a' }, 'candidate_content'],
    ['a text without its bundle', { candidate_content: 'rules: []' }, 'candidate_bundle_id'],
    ['an end before the beginning', { ...current, to: at(-2 * hour) }, 'to'],
    ['more than 7 days', { ...current, from: at(-8 * 24 * hour) }, 'to'],
    ['a time that is none', { ...current, from: 'yesterday' }, 'from'],
    ['too many jobs', { ...current, max_jobs: 1_001 }, 'max_jobs'],
    ['a decision that is none', { ...current, filters: { original_decision: 'PERHAPS' } }, 'filters'],
  ])('400: %s', async (_what, body, field) => {
    const answer = await replay(body);

    expect(statusAndCode(answer)).toEqual({ status: 400, code: 'invalid_body' });
    expect(answer.body['violations']).toMatchObject([{ field }]);
  });

  it('400: an invalid policy', async () => {
    expect(statusAndCode(await replay(trying('rules: 7')))).toEqual({ status: 400, code: 'POLICY_VALIDATION_FAILED' });
  });
}); // prettier-ignore

describe('POST /api/v1/policy/replay while the kernel is unavailable', () => {
  const api = useApi({ env: { SAFETY_KERNEL_ADDR: '127.0.0.1:1' } });

  it('503', async () => {
    const body = { ...range(), use_current_policy: true };

    expect(statusAndCode(await api.as('admin').post('/api/v1/policy/replay', body))).toEqual({
      status: 503,
      code: 'safety_unavailable',
    });
  });
});

describe('POST /api/v1/policy/analytics', () => {
  const api = useApi();
  const analyse = (body: object = {}, as = api.as('admin')) =>
    as.post('/api/v1/policy/analytics', { ...range(), ...body });
  const submit = async (body: object) =>
    String((await api.as('user').post('/api/v1/jobs', { prompt: 'x', ...body })).body['job_id']);

  it('200: hits, holds and overrides by rule', async () => {
    await submit({ topic: 'job.demo.echo' });
    const [first] = [await submit({ topic: 'job.demo.refund', context: { amount: 900 } }), await submit({ topic: 'job.demo.refund', context: { amount: 800 } })];
    await api.given.job({ tenant: 'globex', safety: { rule_id: 'theirs' } });
    await api.as('boss').post(`/api/v1/approvals/${String(first)}/approve`);

    const { status, body } = await analyse();

    expect(status).toBe(200);
    expect(body['rules']).toEqual([
      { rule_id: 'demo-big-refund', hit_count: 2, approval_count: 2, override_count: 1, override_rate: 0.5, avg_approval_latency_ms: expect.any(Number) as number, daily_hits: [2] },
      { rule_id: 'demo-allowed', hit_count: 1, approval_count: 0, override_count: 0, override_rate: 0, avg_approval_latency_ms: 0, daily_hits: [1] },
    ]);
    expect(body['summary']).toEqual({ total_rules: 2, total_hits: 3, total_overrides: 1, highest_override_rule_id: 'demo-big-refund' });
    expect((await analyse({ rule_filter: 'demo-a*' })).body['rules']).toMatchObject([{ rule_id: 'demo-allowed' }]);
    expect((await analyse({ from: at(-3 * hour), to: at(-2 * hour) })).body['rules']).toEqual([]);
  });

  it('400: an invalid range; 403: callers who may not read policy', async () => {
    expect(statusAndCode(await analyse({ to: at(-2 * hour) }))).toEqual({ status: 400, code: 'invalid_body' });
    expect(statusAndCode(await analyse({ from: at(-9 * 24 * hour) }))).toEqual({ status: 400, code: 'invalid_body' });
    expect(statusAndCode(await analyse({}, api.as('user')))).toEqual({ status: 403, code: 'access_denied' });
  });
}); // prettier-ignore
