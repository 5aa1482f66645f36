import { actionKinds, actionVerbs } from '@svc/contract';
import { eventually, fuzzed, hostileJson, hostileText } from '@svc/testing';
import fc from 'fast-check';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

const drop = { kind: 'mutation', verb: 'drop', target_resource: { type: 'table', id: 'orders' } };
const scope = {
  isActive: true,
  allowedServers: ['*'],
  allowedTools: ['read_*'],
  allowedResources: [],
  entitlements: [],
};

describe('action checks of policy/evaluate, simulate and explain', () => {
  const api = useApi({
    context: (ctx) => ({
      ...ctx,
      policyEvaluate: {
        ...ctx.policyEvaluate,
        agentScope: (_tenant, id) => Promise.resolve(id === 'crawler' ? scope : undefined),
        resolve: (host) =>
          Promise.resolve(
            host === 'down.example' ? { kind: 'failed' } : { kind: 'addresses', addresses: ['93.184.216.34'] },
          ),
      },
    }),
  });
  const ask = (action: object, route = 'evaluate', more: object = {}, as = api.as('admin')) =>
    as.post(`/api/v1/policy/${route}`, { topic: 'job.demo.echo', action, ...more });

  it.each<[number, string, string, string, object, object?]>([
    [401, 'unauthorized', 'mcp', 'no_identity', { kind: 'mcp_call', verb: 'read', tool: 'read_file' }],
    [403, 'access_denied', 'mcp', 'tool_not_in_allowed_list', { kind: 'mcp_call', verb: 'read', tool: 'rm' }, { labels: { agent_id: 'crawler' } }],
    [403, 'access_denied', 'file', 'sensitive_path', { kind: 'file', verb: 'read', target_path: '/etc/shadow' }],
    [403, 'access_denied', 'url', 'dns_resolution:loopback', { kind: 'url', verb: 'read', target_url: 'http://127.1/' }],
    [403, 'access_denied', 'tenant', 'cross_tenant:owner_mismatch', { kind: 'tenant_query', verb: 'read', filters: { tenant_id: 'globex' } }],
    [403, 'access_denied', 'provenance', 'unverified_claim', { kind: 'provenance_check', verb: 'read', approval_claim: { claim_text: 'approved by the boss' } }],
    [404, 'not_found', 'mutation', 'approval:not_found', { ...drop, approval_claim: { approval_ref: 'nothing' } }],
    [503, 'service_unavailable', 'url', 'dns_resolution:failed', { kind: 'url', verb: 'read', target_url: 'https://down.example/' }],
  ])('%d %s: %s rejects, %s', async (status, code, gate, sub_reason, action, more = {}) => {
    for (const route of ['evaluate', 'simulate', 'explain']) {
      const answer = await ask(action, route, more);
      expect(answer).toMatchObject({
        status,
        body: {
          code,
          message: expect.stringMatching(/./) as string,
          request_id: answer.headers['x-request-id'],
          details: { gate: `actiongate.${gate}`, sub_reason, auth_tenant: 'acme', kind: (action as typeof drop).kind },
        },
      });
      expect(JSON.stringify(answer.body)).not.toMatch(/shadow|127\.1|boss|down\.example|globex/);
    }
  });

  it('human: 200 when simulated, else 409', async () => {
    const simulated = await ask(drop, 'simulate');

    expect(simulated.status).toBe(200);
    expect(simulated.body).toEqual({
      decision: 'DECISION_TYPE_REQUIRE_HUMAN',
      reason: 'a person must approve this first',
      ruleId: 'actiongate.mutation',
      rule_id: 'actiongate.mutation',
      gate: 'actiongate.mutation',
      sub_reason: 'approval:none',
      policySnapshot: expect.stringMatching(/^1:/) as string,
      approvalRef: '',
      approvalRequired: true,
      constraints: null,
      remediations: [],
    });
    for (const route of ['evaluate', 'explain']) {
      const answer = await ask(drop, route);
      expect(statusAndCode(answer)).toEqual({ status: 409, code: 'conflict' });
      expect(answer.body['details']).toEqual({
        gate: 'actiongate.mutation', sub_reason: 'approval:none', target_type: 'table', auth_tenant: 'acme',
        claim_present: false, claim_chars: '0', verb: 'drop', kind: 'mutation',
      });
    }
  });

  it('200: rules are evaluated if all action checks pass', async () => {
    const harmless = { kind: 'file', verb: 'read', target_path: '/srv/report.csv' };

    expect((await ask(harmless)).body).toMatchObject({ decision: 'DECISION_TYPE_ALLOW', ruleId: 'demo-allowed' });
    expect((await ask(harmless, 'evaluate', { topic: 'job.unheard' })).body['decision']).toBe('DECISION_TYPE_DENY');
    expect((await api.as('admin').post('/api/v1/policy/evaluate', { topic: 'job.demo.echo', action: null })).status).toBe(200);
  });

  it.each([
    ['a kind that is none', { kind: 'wish', verb: 'read' }],
    ['no verb', { kind: 'file' }],
    ['arguments beyond 64 KiB', { kind: 'mcp_call', verb: 'read', args: { a: 'x'.repeat(65_536) } }],
    ['filters that are no texts', { kind: 'tenant_query', verb: 'read', filters: { a: 1 } }],
  ])('400: a descriptor with %s', async (_what, action) => {
    const answer = await ask(action);

    expect(statusAndCode(answer)).toEqual({ status: 400, code: 'invalid_body' });
    expect(answer.body['violations']).toMatchObject([{ field: 'action' }]);
    expect(statusAndCode(await ask({ ...drop, colour: 'red' }))).toEqual({ status: 400, code: 'invalid_json' });
  });

  describe('with the approval of a held job that describes the action', () => {
    const held = (given: object = {}) => api.given.job({ state: 'APPROVAL_REQUIRED', context: { action: drop }, ...given });
    const approve = async (id: string, as = api.as('boss')) =>
      expect((await as.post(`/api/v1/approvals/${id}/approve`)).status).toBe(200);
    const claim = (approval_ref: string, route = 'evaluate', more: object = {}, as = api.as('admin')) =>
      ask({ ...drop, ...more, approval_claim: { approval_ref } }, route, {}, as);
    const getReason = ({ status, body }: Awaited<ReturnType<typeof ask>>) => [status, (body['details'] as Record<string, unknown> | undefined)?.['sub_reason']];

    it('200 once, also for concurrent calls; simulate does not consume the approval', async () => {
      const id = await held();
      await approve(id);

      expect(getReason(await claim(id, 'simulate'))).toEqual([200, undefined]);
      const answers = await Promise.all(Array.from({ length: 8 }, () => claim(id)));

      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(7);
      expect(getReason(await claim(id))).toEqual([409, 'approval:consumed']);
      expect(getReason(await claim(id, 'simulate'))).toEqual([409, 'approval:consumed']);
    });

    it('200: a denial by rules does not consume the approval', async () => {
      const id = await held();
      await approve(id);
      const denied = await ask({ ...drop, approval_claim: { approval_ref: id } }, 'evaluate', { topic: 'job.unheard' });

      expect(denied.body['decision']).toBe('DECISION_TYPE_DENY');
      expect(getReason(await claim(id))).toEqual([200, undefined]);
    });

    it('409: pending, for another action or for none; 403: of another tenant, or the caller’s own', async () => {
      const [open, other, none, theirs, own] = [await held(), await held(), await held({ context: {} }), await held({ tenant: 'globex' }), await held()];
      for (const id of [other, none]) await approve(id);
      await approve(theirs, api.as('other'));
      await approve(own, api.as('admin'));

      expect(getReason(await claim(open))).toEqual([409, 'approval:not_approved']);
      expect(getReason(await claim(other, 'evaluate', { args: { cascade: true } }))).toEqual([409, 'approval:other_action']);
      expect(getReason(await claim(none))).toEqual([409, 'approval:other_action']);
      expect(getReason(await claim(theirs))).toEqual([403, 'approval:other_tenant']);
      expect(getReason(await claim(own))).toEqual([403, 'approval:self']);
    });
  });

  it('any descriptor gets a response', async () => {
    const text = fc.option(hostileText, { nil: undefined });
    const action = fc.record({
      kind: fc.constantFrom(...actionKinds),
      verb: fc.constantFrom(...actionVerbs),
      server: text,
      tool: text,
      target_path: text,
      target_url: fc.option(hostileText.map((end) => `https://example.com/${end}`), { nil: undefined }),
      filters: fc.dictionary(hostileText, hostileText, { maxKeys: 2 }),
      args: fc.dictionary(hostileText, hostileJson, { maxKeys: 2 }),
      approval_claim: fc.record({ approval_ref: hostileText }),
    });
    await fc.assert(
      fc.asyncProperty(action, fc.constantFrom('evaluate', 'simulate', 'explain'), hostileText, async (sent, route, agent_id) => {
        const { status } = await ask(sent, route, { labels: { agent_id } });
        expect([200, 400, 401, 403, 404, 409]).toContain(status);
      }),
      fuzzed(60),
    );
  });

  it('every call and every rejection is audited, without the request content', async () => {
    await ask({ kind: 'file', verb: 'read', target_path: '/etc/shadow' });
    await ask({ kind: 'file', verb: 'read', target_path: '/srv/report.csv' }, 'explain', { job_id: 'j-1' });

    await eventually(async () => {
      const { body } = await api.as('admin').get('/api/v1/policy/audit');
      expect(body['items']).toMatchObject([
        { action: 'policy.explain', resource_type: 'policy', resource_id: 'job.demo.echo', decision: 'allow', matched_rule: 'demo-allowed', job_id: 'j-1', actor_id: 'ann', tenant_id: 'acme' },
        { action: 'actiongate.denied', decision: 'deny', matched_rule: 'actiongate.file', extra: { sub_reason: 'sensitive_path', asked: 'policy.evaluate' } },
      ]);
      expect(JSON.stringify(body)).not.toContain('shadow');
    });
  });
}); // prettier-ignore
