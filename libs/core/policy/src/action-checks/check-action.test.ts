import { actionKinds, actionVerbs } from '@svc/contract';
import { fuzzed, hostileJson, hostileText } from '@svc/testing';
import fc from 'fast-check';
import { bindingHash } from './binding';
import { checkAction, actionCheckDetails } from './check-action';
import type { ActionApproval, ActionCheckLookups } from './action-check';
import { buildAction, buildActor, buildAgent, buildApproval, outcome, buildLookups } from './action-checks.testing';

describe('actiongate.mcp', () => {
  const call = (
    fields: object,
    agent = buildAgent(),
    world: ActionCheckLookups = buildLookups(),
    dangerousParameters: string[] = [],
  ) =>
    outcome(
      { kind: 'mcp_call', server: 'files', tool: 'read_file', ...fields },
      { actor: buildActor({ agent }), world, dangerousParameters },
    );

  it('lets an agent call its tools', async () => {
    expect(await call({ target_resource: { id: 'doc:7' }, required_entitlement: 'Vault', args: { a: 1 } })).toBe('passed');
  }); // prettier-ignore

  it.each([
    [{ server: 'mail' }, 'mcp 403 server_not_in_allowed_list'],
    [{ tool: 'drop_table' }, 'mcp 403 tool_not_in_allowed_list'],
    [{ tool: '' }, 'mcp 403 tool_not_in_allowed_list'],
    [{ target_resource: { id: 'user:7' } }, 'mcp 403 resource_not_in_allowed_list'],
    [{ required_entitlement: 'admin' }, 'mcp 403 unlicensed'],
  ])('%j: %s', async (fields, expected) => expect(await call(fields)).toBe(expected));

  it('rejects unknown and inactive agents; empty lists permit nothing', async () => {
    const unknown = await outcome({ kind: 'mcp_call', tool: 'read_file' });

    expect(unknown).toBe('mcp 401 no_identity');
    expect(await call({}, buildAgent({ isActive: false }))).toBe('mcp 401 agent_inactive');
    expect(await call({}, buildAgent({ allowedTools: [] }))).toBe('mcp 403 tool_not_in_allowed_list');
  });

  it('rejects forbidden arguments at any depth, and unreachable servers', async () => {
    const forbid = (args: Record<string, unknown>) => call({ args }, buildAgent(), buildLookups(), ['force']);
    const gone = buildLookups({ isReachable: () => Promise.resolve(false) });

    expect(await forbid({ a: [{ FORCE: true }] })).toBe('mcp 403 dangerous_parameter');
    expect(await forbid({ a: 'force' })).toBe('passed');
    expect(await call({}, buildAgent(), gone)).toBe('mcp 503 server_unreachable');
  });
});

describe('actiongate.mutation', () => {
  const drop = { kind: 'mutation', verb: 'drop', target_resource: { type: 'table', id: 't1' } } as const;
  const claimed = { ...drop, approval_claim: { approval_ref: 'a1' } };
  const hash = bindingHash(buildAction(claimed));
  const change = (approval: ActionApproval | undefined, more: Partial<ActionCheckLookups> = {}, fields: object = {}) =>
    outcome({ ...claimed, ...fields }, { world: buildLookups({ approval: () => Promise.resolve(approval), ...more }) });

  it('requires an approval for every destructive action', async () => {
    for (const verb of actionVerbs) {
      const harmless = verb === 'read' || verb === 'write';
      expect(await outcome({ kind: 'mutation', verb })).toBe(harmless ? 'passed' : 'mutation human approval:none');
      expect(await outcome({ kind: 'tenant_query', verb })).toBe('passed');
    }
  });

  it('lets approved actions pass', async () => {
    expect(await change(buildApproval({ actionHash: hash }))).toBe('passed');
  });

  it.each<[string, Partial<ActionApproval> | undefined, string]>([
    ['does not exist', undefined, '404 approval:not_found'],
    ['is another tenant’s', { tenant: 'globex' }, '403 approval:other_tenant'],
    ['is one’s own', { isOwn: true }, '403 approval:self'],
    ['is pending', { status: 'pending' }, '409 approval:not_approved'],
    ['was rejected', { status: 'other' }, '409 approval:not_approved'],
    ['was used', { isConsumed: true }, '409 approval:consumed'],
    ['is too old', { isExpired: true }, '409 approval:expired'],
    ['is for another action', { actionHash: 'f'.repeat(64) }, '409 approval:other_action'],
    ['is for no action', { actionHash: undefined }, '409 approval:other_action'],
  ])('rejects an approval that %s', async (_what, fields, expected) => {
    expect(await change(fields && buildApproval({ actionHash: hash, ...fields }))).toBe(`mutation ${expected}`);
  });

  it('rejects a missing target, and an action changed after its approval', async () => {
    const approval = buildApproval({ actionHash: hash });

    expect(await change(approval, { targetExists: () => Promise.resolve(false) })).toBe('mutation 404 target_missing');
    expect(await change(approval, {}, { target_resource: { type: 'table', id: 't2' } })).toBe('mutation 409 approval:other_action'); // prettier-ignore
    expect(await change(approval, {}, { args: { cascade: true } })).toBe('mutation 409 approval:other_action');
  });
});

describe('actiongate.provenance', () => {
  const tagged = { kind: 'url', verb: 'read', target_url: 'https://example.com/', risk_tags: ['requires_provenance'] } as const; // prettier-ignore
  const evidence = (answer: 'proven' | 'compromised' | 'missing' | 'unavailable') => {
    const fields = { ...tagged, risk_tags: [...tagged.risk_tags], approval_claim: { approval_ref: 'a1', claim_text: 'so' } };
    const approval = buildApproval({ actionHash: bindingHash(buildAction(fields)) });
    return outcome(fields, {
      world: buildLookups({ approval: () => Promise.resolve(approval), verifyEvidence: () => Promise.resolve(answer) }),
    });
  }; // prettier-ignore

  it('rejects a claim without its approval', async () => {
    const claim = (approval_claim: object, kind: 'provenance_check' | 'tenant_query' = 'provenance_check') =>
      outcome({ kind, verb: 'read', approval_claim });

    expect(await claim({ claim_text: 'approved by the boss' })).toBe('provenance 403 unverified_claim');
    expect(await claim({})).toBe('provenance 403 unverified_claim');
    expect(await claim({ claim_text: 'so', approval_ref: 'a1' })).toBe('provenance 404 approval:not_found');
    expect(await claim({ claim_text: 'approved by the boss' }, 'tenant_query')).toBe('passed');
    expect(await outcome({ ...tagged, risk_tags: ['Requires_Provenance'] })).toBe('provenance 403 unverified_claim');
  });

  it('verifies evidence when there is a store for it', async () => {
    expect(await evidence('proven')).toBe('passed');
    expect(await evidence('compromised')).toBe('provenance 500 evidence:compromised');
    expect(await evidence('missing')).toBe('provenance 500 evidence:missing');
    expect(await evidence('unavailable')).toBe('provenance 503 evidence:unavailable');
  });
});

describe('the hash that binds an approval to its action', () => {
  const action = buildAction({ verb: 'delete', server: 's', target_resource: { type: 'a', id: '1' }, risk_tags: ['x', 'y'] });

  it('is the same for equivalent actions', () => {
    const written = buildAction({
      risk_tags: ['y', 'x'],
      verb: 'delete',
      args: {},
      tool: '',
      target_resource: { id: '1', type: 'a', archived: true },
      server: 's',
      approval_claim: { approval_ref: 'r', claim_text: 'c' },
      required_entitlement: 'e',
    });

    expect(bindingHash(written)).toBe(bindingHash(action));
    expect(bindingHash(action)).toMatch(/^[0-9a-f]{64}$/);
  });

  it('is the same in every version of the software: approvals are stored with it', () => {
    const args = { '10': [1.5, null, 'é'], '9': { b: true, a: '"' }, '-': -0 };

    expect(bindingHash({ ...action, args })).toBe('1da0307c88a9b407e9779423337af16acc5e929702c3db972a95213b9f4b39c8');
  });

  it.each([
    { verb: 'drop' as const },
    { kind: 'tenant_query' as const },
    { server: 't' },
    { tool: 't' },
    { target_path: '/' },
    { target_url: 'https://a.example' },
    { target_resource: { type: 'a', id: '2' } },
    { target_resource: { type: 'a', id: '1', owner_tenant: 'acme' } },
    { filters: { a: 'b' } },
    { wildcards: ['a'] },
    { args: { a: 1 } },
    { risk_tags: ['x'] },
  ])('differs when %j', (change) => {
    expect(bindingHash({ ...action, ...change })).not.toBe(bindingHash(action));
  });
}); // prettier-ignore

describe('all action checks', () => {
  const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
  const anyAction = fc.record({
    kind: fc.constantFrom(...actionKinds),
    verb: fc.constantFrom(...actionVerbs),
    server: optional(hostileText),
    tool: optional(hostileText),
    target_path: optional(hostileText),
    target_url: optional(
      fc.oneof(
        hostileText,
        fc.webUrl(),
        hostileText.map((text) => `https://${text}`),
      ),
    ),
    filters: fc.dictionary(fc.oneof(hostileText, fc.constantFrom('tenant_id', 'raw_where', 'limit')), hostileText),
    wildcards: fc.array(hostileText, { maxLength: 3 }),
    risk_tags: fc.array(fc.oneof(hostileText, fc.constant('requires_provenance')), { maxLength: 3 }),
    args: optional(hostileJson.map((value): Record<string, unknown> => ({ value }))),
  });

  it('always answer, without echoing the request', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(anyAction, async ({ server, tool, target_path, target_url, args, ...fields }) => {
        const secret = 'canary-7f3a9c';
        const action = buildAction({
          ...fields,
          target_path: `${target_path ?? ''}${secret}`,
          target_url: `${target_url ?? 'https://example.com'}?${secret}`,
          args: { ...args, [secret]: secret },
          target_resource: { type: ` ${secret}`, id: secret },
          approval_claim: { claim_text: secret },
          ...(server !== undefined && { server: server + secret }),
          ...(tool !== undefined && { tool: tool + secret }),
        });
        const actor = buildActor({ agent: buildAgent() });
        const found = await checkAction({ action, actor, world: buildLookups(), dangerousParameters: ['x'] });
        seen.add(found?.gate ?? 'passed');
        if (found) expect(JSON.stringify([found, actionCheckDetails(found, action, actor)])).not.toContain(secret);
      }),
      fuzzed(1_500),
    );
    expect([...seen].sort()).toEqual([
      'actiongate.file', 'actiongate.mcp', 'actiongate.mutation', 'actiongate.provenance', 'actiongate.tenant',
      'actiongate.url', 'passed',
    ]); // prettier-ignore
  });

  it('details contain the length of a claim, not its text', () => {
    const lengths = [0, 1, 64, 65, 256, 257, 1_024, 1_025];
    const details = lengths.map((length) => {
      const action = buildAction({ approval_claim: { claim_text: 'x'.repeat(length) }, target_resource: { type: 'order' } });
      const finding = { gate: 'actiongate.mutation', kind: 'human', subReason: 'approval:none', reason: '' } as const;
      return actionCheckDetails(finding, action, buildActor());
    });

    expect(details.map(({ claim_chars }) => claim_chars)).toEqual(['0', '1-64', '1-64', '65-256', '65-256', '257-1024', '257-1024', '1025+']);
    expect(details[1]).toEqual({
      gate: 'actiongate.mutation', sub_reason: 'approval:none', target_type: 'order', auth_tenant: 'acme',
      claim_present: true, claim_chars: '1-64', verb: 'write', kind: 'mutation',
    });
  }); // prettier-ignore
});
