import type { Kernel } from '@svc/kernel-client';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

const policy = `
version: '7'
default_decision: deny
rules:
  - {id: no-wipe, match: {topics: [job.demo.wipe], risk_tags: [destructive]}, decision: deny, reason: never,
     remediations: [{id: archive, replacement_topic: job.demo.archive, add_labels: {mode: archive}}]}
  - {id: big, match: {topics: [job.demo.refund], metadata: {amount_gt: 250}}, decision: require_approval, reason: a person}
  - {id: pace, match: {topics: [job.demo.burst]}, velocity: {max_requests: 2, window_seconds: 60, key: tenant},
     decision: throttle, throttle_duration: 5s}
  - {id: boxed, match: {topics: [job.demo.boxed]}, decision: allow, constraints: {budgets: {max_runtime_ms: 60000}, sandbox: {isolated: true}}}
  - {id: reserved, match: {topics: [job.demo.label], labels: {_zone: x}}, decision: deny}
  - {id: globex, match: {tenants: [globex]}, decision: deny, reason: not them}
  - {id: risky, match: {agent_risk_tiers: [high]}, decision: require_approval}
  - {id: ok, match: {topics: ["job.demo.*"]}, decision: allow, reason: fine}
input_rules:
  - {id: word, match: {keywords: [forbidden]}, decision: deny, reason: a word}
`;

const answer = {
  decision: 'DECISION_TYPE_ALLOW',
  reason: 'fine',
  ruleId: 'ok',
  approvalRef: '',
  approvalRequired: false,
  constraints: null,
  remediations: [],
};

describe('POST /api/v1/policy/evaluate, simulate and explain', () => {
  const api = useApi({
    context: (ctx) => ({
      ...ctx,
      policyEvaluate: {
        ...ctx.policyEvaluate,
        agents: (_tenant, id) => Promise.resolve(id === 'crawler' ? { risk_tier: 'high' } : undefined),
      },
    }),
  });
  // Rules with velocity windows are in effect only with a license for them.
  beforeAll(async () => {
    api.license('enterprise');
    await api.policy(policy);
  });
  beforeEach(() => api.license('enterprise'));
  const ask = (route: string, body: object, as = api.as('admin')) => as.post(`/api/v1/policy/${route}`, body);
  const decided = async (body: object, route = 'simulate') => {
    const { status, body: decision } = await ask(route, { topic: 'job.demo.x', ...body });
    return [status, decision['decision'], decision['ruleId']];
  };

  it.each(['evaluate', 'simulate'])('%s 200: every field is present, for any decision', async (route) => {
    const allowed = await ask(route, { topic: 'job.demo.x' });
    const denied = await ask(route, { topic: 'job.demo.wipe', meta: { risk_tags: ['destructive'] } });
    const held = await ask(route, { topic: 'job.demo.refund', labels: { amount: '900' }, job_id: 'j-1' });
    const boxed = await ask(route, { topic: 'job.demo.boxed' });

    const policySnapshot = expect.stringMatching(/^7:[0-9a-f]{64}$/) as string;
    expect(allowed).toMatchObject({ status: 200 });
    expect(allowed.body).toEqual({ ...answer, policySnapshot });
    expect(denied.body).toEqual({
      ...answer,
      policySnapshot,
      decision: 'DECISION_TYPE_DENY',
      reason: 'never',
      ruleId: 'no-wipe',
      remediations: [
        {
          id: 'archive',
          title: '',
          summary: '',
          replacementTopic: 'job.demo.archive',
          replacementCapability: '',
          addLabels: { mode: 'archive' },
          removeLabels: [],
        },
      ],
    });
    expect(held.body).toEqual({
      ...answer,
      policySnapshot,
      decision: 'DECISION_TYPE_REQUIRE_HUMAN',
      reason: 'a person',
      ruleId: 'big',
      approvalRequired: true,
      approvalRef: 'j-1',
    });
    expect(boxed.body).toMatchObject({
      decision: 'DECISION_TYPE_ALLOW_WITH_CONSTRAINTS',
      constraints: {
        budgets: { maxRuntimeMs: '60000', maxRetries: 0, maxArtifactBytes: '0', maxConcurrentJobs: 0 },
        sandbox: { isolated: true, networkAllowlist: [], fsReadOnly: [], fsReadWrite: [] },
        toolchain: { allowedTools: [], allowedCommands: [] },
        diff: { maxFiles: 0, maxLines: 0, denyPathGlobs: [] },
        redactionLevel: '',
      },
    });
  });

  it('200: evaluate counts in velocity windows, once per job; simulate and explain do not', async () => {
    const burst = { topic: 'job.demo.burst' };
    for (let i = 0; i < 3; i++) expect((await decided(burst, 'simulate'))[2]).toBe('ok');
    for (let i = 0; i < 3; i++) expect((await decided({ ...burst, job_id: 'j' }, 'evaluate'))[2]).toBe('ok');
    expect((await decided(burst, 'evaluate'))[2]).toBe('ok');

    expect(await decided(burst, 'evaluate')).toEqual([200, 'DECISION_TYPE_THROTTLE', 'pace']);
    expect(await decided(burst, 'simulate')).toEqual([200, 'DECISION_TYPE_THROTTLE', 'pace']);
    expect(await decided(burst, 'explain')).toEqual([200, 'DECISION_TYPE_THROTTLE', 'pace']);
  });

  it('200: explain lists every evaluated rule, and why it did not match', async () => {
    const { body } = await ask('explain', { topic: 'job.demo.refund', labels: { amount: '10' }, input_content: 'hello' });

    const evaluated = { source: expect.stringContaining('safety.yaml') as string, set: 'global' };
    const passed = { ...evaluated, outcome: 'not_matched' };
    const [allow, deny] = ['DECISION_TYPE_ALLOW', 'DECISION_TYPE_DENY'];
    expect(body).toMatchObject({ ...answer, reason: expect.stringContaining('decided by rule ok of') as string });
    expect(body['reason']).toContain('big (metadata)');
    expect(body['traceTotal']).toBe(9);
    expect(body['trace']).toEqual([
      { ...passed, ruleId: 'no-wipe', decision: deny, failed: 'topics' },
      { ...passed, ruleId: 'big', decision: 'DECISION_TYPE_REQUIRE_HUMAN', failed: 'metadata' },
      { ...passed, ruleId: 'pace', decision: 'DECISION_TYPE_THROTTLE', failed: 'topics' },
      { ...passed, ruleId: 'boxed', decision: allow, failed: 'topics' },
      { ...passed, ruleId: 'reserved', decision: deny, failed: 'topics' },
      { ...passed, ruleId: 'globex', decision: deny, failed: 'tenants' },
      { ...passed, ruleId: 'risky', decision: 'DECISION_TYPE_REQUIRE_HUMAN', failed: 'agent_risk_tiers' },
      { ...evaluated, ruleId: 'ok', decision: allow, outcome: 'matched' },
      { ...passed, set: 'content', ruleId: 'word', decision: deny, failed: 'content' },
    ]);
  });

  it('200: an invalid topic and one without a rule are denied, without an error', async () => {
    expect(await decided({ topic: '' })).toEqual([200, 'DECISION_TYPE_DENY', '']);
    expect(await decided({ topic: 'other' })).toEqual([200, 'DECISION_TYPE_DENY', '']);
    expect(await decided({ topic: 'job.else' })).toEqual([200, 'DECISION_TYPE_DENY', '']);
  });

  it('200: labels reserved for the service are dropped; agents and content count', async () => {
    expect(await decided({ topic: 'job.demo.label', labels: { _zone: 'x' } })).toEqual([200, answer.decision, 'ok']);
    expect(await decided({ topic: 'job.demo.label', meta: { labels: { _zone: 'x' } } })).toEqual([200, answer.decision, 'ok']);
    expect((await decided({ labels: { agent_id: 'crawler' } }))[2]).toBe('risky');
    expect((await decided({ labels: { agent_id: 'stranger' } }))[2]).toBe('ok');
    expect((await decided({ input_content: 'a forbidden word' }))[2]).toBe('word');
    expect((await decided({ topic: 'job.demo.refund', input_content: '{"amount": 251}' }))[2]).toBe('big');
  });

  it('200: uses the config of tenant, team, workflow and step unless one is sent', async () => {
    const data = { safety: { denied_topics: ['job.demo.x'] } };
    const place = { scope: 'team', scope_id: 'red', meta: { tenant: 'acme' } };
    await api.store.config.replace({ ...place, data, revision: 1, updated_at: '' }, 0);
    api.ctx.submit.config.changed();

    expect((await decided({}))[1]).toBe(answer.decision);
    expect((await decided({ team_id: 'red' }))[1]).toBe('DECISION_TYPE_DENY');
    expect((await decided({ team_id: 'red', effective_config: {} }))[1]).toBe(answer.decision);
    const { body } = await ask('evaluate', { topic: 'job.demo.x', team_id: 'red' });
    expect(body['policySnapshot']).toMatch(/^7:[0-9a-f]{64}\|cfg:[0-9a-f]{64}$/);
  });

  it.each(['interactive', 'BATCH', 'critical', 'low', 'Normal', 'high', 'JOB_PRIORITY_BATCH', '', 0, 1, 2, 3])(
    '200: priority %j is one', async (priority) => expect((await decided({ priority }))[0]).toBe(200),
  );

  it.each([
    ['priority', { priority: 'urgent' }],
    ['priority', { priority: 4 }],
    ['priority', { priority: true }],
    ['topic', { topic: null }],
    ['labels', { labels: { '_governance.x': 'y' } }],
    ['labels', { labels: { a: 'x'.repeat(4_097) } }],
    ['meta', { meta: { actor_type: 'robot' } }],
    ['meta', { meta: { risk_tags: [1] } }],
    ['budget', { budget: { deadline_ms: 'soon' } }],
    ['estimated_cost', { estimated_cost: -1 }],
  ])('400: a bad %s (%j)', async (field, body) => {
    for (const route of ['evaluate', 'simulate', 'explain']) {
      const refused = await ask(route, { topic: 'job.demo.x', ...body });
      expect(statusAndCode(refused)).toEqual({ status: 400, code: 'invalid_body' });
      expect(refused.body['violations']).toMatchObject([{ field }]);
    }
  });

  it('400: unknown fields, at any level', async () => {
    for (const body of [{ colour: 'red' }, { meta: { colour: 'red' } }, { budget: { colour: 1 } }]) {
      expect(statusAndCode(await ask('evaluate', { topic: 'job.demo.x', ...body }))).toEqual({ status: 400, code: 'invalid_json' });
    }
    expect(statusAndCode(await ask('evaluate', {}))).toEqual({ status: 400, code: 'invalid_body' });
  });

  it('403: the name of another tenant, in any field; callers with access to all tenants may name any', async () => {
    for (const body of [{ tenant: 'globex' }, { org_id: 'globex' }, { meta: { tenant_id: 'globex' } }]) {
      expect(statusAndCode(await ask('simulate', { topic: 'job.demo.x', ...body }))).toEqual({ status: 403, code: 'tenant_access_denied' });
      expect((await ask('simulate', { topic: 'job.demo.x', ...body }, api.as('everywhere'))).body['ruleId']).toBe('globex');
    }
    expect((await decided({ tenant: 'acme', meta: { tenant_id: 'acme' } }))[2]).toBe('ok');
    expect((await ask('simulate', { topic: 'job.demo.x' }, api.as('other'))).body['ruleId']).toBe('globex');
  });

  it('403: operators read snapshots and cannot evaluate', async () => {
    expect(statusAndCode(await ask('evaluate', { topic: 'job.demo.x' }, api.as('operator')))).toEqual({ status: 403, code: 'access_denied' });
    expect((await api.as('operator').get('/api/v1/policy/snapshots')).status).toBe(200);
  });

  it('GET snapshots 200: the policy in effect first', async () => {
    const before = (await ask('evaluate', { topic: 'job.demo.x' })).body['policySnapshot'];
    await api.policy(policy.replace("'7'", "'8'"));

    const { status, body } = await api.as('admin').get('/api/v1/policy/snapshots');

    expect(status).toBe(200);
    expect((body['snapshots'] as string[]).slice(0, 2)).toEqual([expect.stringMatching(/^8:/), before]);
    await api.policy(policy);
  });
}); // prettier-ignore

describe('POST /api/v1/policy/evaluate when rules are hidden', () => {
  const api = useApi({ env: { SVC_POLICY_EVALUATE_REDACT: 'true' } });

  it('200: evaluate omits rule and reason', async () => {
    const ask = async (route: string, topic: string) =>
      (await api.as('admin').post(`/api/v1/policy/${route}`, { topic })).body;

    expect(await ask('evaluate', 'job.demo.echo')).toMatchObject({ ruleId: 'matched', reason: 'DECISION_TYPE_ALLOW' });
    expect(await ask('evaluate', 'job.unheard')).toMatchObject({ ruleId: '', reason: 'DECISION_TYPE_DENY' });
    expect(await ask('simulate', 'job.demo.echo')).toMatchObject({ ruleId: 'demo-allowed' });
    expect(await ask('explain', 'job.demo.echo')).toMatchObject({ ruleId: 'demo-allowed' });
  });
});

describe('POST /api/v1/policy/evaluate with a remote kernel', () => {
  const api = useApi({ env: { SAFETY_KERNEL_ADDR: '127.0.0.1:1' } });

  it('503: the kernel is unavailable', async () => {
    for (const route of ['evaluate', 'simulate', 'explain']) {
      const answer = await api.as('admin').post(`/api/v1/policy/${route}`, { topic: 'job.a' });
      expect(statusAndCode(answer)).toEqual({ status: 503, code: 'safety_unavailable' });
      expect(answer.headers['retry-after']).toBe('5');
    }
    expect(statusAndCode(await api.as('admin').get('/api/v1/policy/snapshots'))).toEqual({ status: 503, code: 'safety_unavailable' }); // prettier-ignore
  });
});

describe('POST /api/v1/policy/evaluate when the kernel returns an error', () => {
  const failing = () => Promise.reject(new Error('a defect of the kernel'));
  const api = useApi({
    context: (ctx) => {
      const kernel: Partial<Kernel> = { evaluate: failing, simulate: failing, explain: failing, listSnapshots: failing };
      return { ...ctx, policyEvaluate: { ...ctx.policyEvaluate, kernel: kernel as Kernel } };
    },
  });

  it('502, without its message', async () => {
    const calls = ['evaluate', 'simulate', 'explain'].map((route) =>
      api.as('admin').post(`/api/v1/policy/${route}`, { topic: 'job.a' }),
    );
    for (const answer of [...(await Promise.all(calls)), await api.as('admin').get('/api/v1/policy/snapshots')]) {
      expect(answer).toMatchObject({ status: 502, body: { code: 'upstream_service_error', error: 'upstream service error' } });
    }
  });
}); // prettier-ignore
