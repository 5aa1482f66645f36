import type { PolicyRequest } from '../evaluate/request';
import { allowWhen, verdict } from '../policy.testing';

const delegated = { chain: ['root', 'mid'], depth: 2, scope: ['Refund'] };
const mcp = (tool: string) => ({ labels: { 'mcp.server': 'Shop', mcp_tool: tool } });

describe('the conditions of each match key', () => {
  it.each<[string, Partial<PolicyRequest>, boolean]>([
    ['{}', {}, true],
    ['{topics: []}', {}, true],
    ['{topics: [job.b, "job.?"]}', {}, true],
    ['{topics: [job.b]}', {}, false],
    ['{topics: [job.a], tenants: [b]}', { tenant: 'a' }, false],
    ['{tenants: [" ACME"]}', { tenant: 'acme' }, true],
    ['{tenants: [acme]}', { meta: { tenant_id: 'acme' } }, true],
    ['{tenants: [default]}', {}, true],
    ['{capabilities: ["cargo.*"]}', { meta: { capability: 'Cargo.Lift' } }, true],
    ['{capabilities: [cargo]}', { meta: { capability: 'cargo.lift' } }, false],
    ['{capabilities: ["*"]}', {}, false],
    ['{risk_tags: [a, b]}', { meta: { risk_tags: ['B'] } }, true],
    ['{risk_tags: [a]}', { meta: { risk_tags: ['b'] } }, false],
    ['{requires: [gpu, net]}', { meta: { requires: ['net', 'gpu', 'x'] } }, true],
    ['{requires: [gpu, net]}', { meta: { requires: ['net'] } }, false],
    ['{pack_ids: [p]}', { meta: { pack_id: 'p' } }, true],
    ['{actor_ids: [p]}', { meta: { actor_id: 'q' } }, false],
    ['{actor_types: [service]}', { meta: { actor_type: 'Service' } }, true],
    ['{agent_risk_tiers: [high]}', { agent: { risk_tier: 'High' } }, true],
    ['{agent_risk_tiers: [high]}', {}, false],
    ['{agent_data_classifications: [pii, phi]}', { agent: { data_classifications: ['PHI'] } }, true],
    ['{labels: {tier: Gold, n: 1}}', { labels: { tier: 'Gold', n: '1' } }, true],
    ['{labels: {tier: Gold}}', { labels: { tier: 'gold' } }, false],
    ['{label_allowlist: {region: [eu]}}', { labels: { region: 'us' } }, true],
    ['{label_allowlist: {region: [eu]}}', { labels: { region: 'EU' } }, false],
    ['{label_allowlist: {region: [eu]}}', {}, false],
    ['{label_threshold: {cost: 5}}', { labels: { cost: '5.5' } }, true],
    ['{label_threshold: {cost: 5}}', { labels: { cost: '5' } }, false],
    ['{label_threshold: {cost: 5}}', { labels: { cost: '0x10' } }, false],
    ['{label_threshold: {cost: -1}}', { labels: { cost: '' } }, false],
    ['{secrets_present: true}', { labels: { secrets_present: 'yes' } }, true],
    ['{secrets_present: true}', { meta: { risk_tags: ['secrets'] } }, true],
    ['{secrets_present: true}', { labels: { secrets_present: 'no' } }, false],
    ['{secrets_present: false}', {}, true],
    ['{metadata: {amount_gt: 250}}', { input_content: '{"amount": 251}' }, true],
    ['{metadata: {amount_gt: 250}}', { input_content: '{"amount": 250}' }, false],
    ['{metadata: {amount_gte: 250}}', { input_content: '{"amount": "250"}' }, true],
    ['{metadata: {amount_lt: 5, amount_gt: 1}}', { labels: { amount: '3' } }, true],
    ['{metadata: {amount_lte: 3}}', { meta: { labels: { amount: '3' } } }, true],
    ['{metadata: {amount_gt: 1}}', { labels: { amount: '9' }, input_content: '{"amount": 1}' }, false],
    ['{metadata: {amount_gt: 1}}', { labels: { amount: '9' }, meta: { labels: { amount: '1' } } }, false],
    ['{metadata: {amount_gt: 1}}', { labels: { '_content.payload_json': '{"amount": 2}' } }, true],
    ['{metadata: {amount_gt: 1}}', { labels: { '_content.prompt': '{"amount": 2}' } }, true],
    ['{metadata: {amount_gt: -1}}', { input_content: 'amount: 9' }, false],
    ['{metadata: {mode: Fast, dry: true}}', { input_content: '{"mode": "fast", "dry": true}' }, true],
    ['{metadata: {toString: x}}', { input_content: '{}' }, false],
    ['{predicate: delegation.depth >= 2}', { delegation: delegated }, true],
    ['{predicate: delegation.depth == 0}', {}, true],
    ['{predicate: \'delegation.issuer == "ROOT"\'}', { delegation: delegated }, true],
    ['{predicate: \'delegation.issuer == "mid"\'}', { delegation: delegated }, false],
    ['{predicate: \'delegation.scope.contains("refund")\'}', { delegation: delegated }, true],
    ['{delegation: {max_depth: 1}}', { delegation: delegated }, false],
    ['{delegation: {max_depth: 1}}', {}, true],
    ['{delegation: {issuers: [root, mid]}}', { delegation: delegated }, true],
    ['{delegation: {issuers: [root]}}', { delegation: delegated }, false],
    ['{delegation: {require_issuer: root}}', { delegation: delegated }, true],
    ['{delegation: {require_issuer: root}}', {}, false],
    ['{delegation: {required_scope: [refund]}}', { delegation: delegated }, true],
    ['{delegation: {required_scope: [refund, wipe]}}', { delegation: delegated }, false],
    ['{delegation: {forbid_delegated: true}}', { delegation: delegated }, false],
    ['{delegation: {forbid_delegated: true}}', {}, true],
    ['{delegation: {delegation_required: true}}', {}, false],
    ['{mcp: {allow_tools: [read]}}', mcp('READ'), true],
    ['{mcp: {allow_tools: [read]}}', mcp('drop'), false],
    ['{mcp: {deny_tools: [drop]}}', mcp('drop'), false],
    ['{mcp: {deny_tools: [drop]}}', mcp('read'), true],
    ['{mcp: {allow_resources: [r]}}', mcp('read'), false],
    ['{mcp: {allow_servers: ["sho*"]}}', mcp('read'), true],
    ['{mcp: {deny_tools: [drop]}}', {}, false],
    ['{mcp: {allow_actions: [call]}}', { labels: { mcpAction: 'call' } }, true],
  ])('%s of %j: %s', (match, request, matches) => {
    expect(verdict(allowWhen(match), request)).toEqual(matches ? ['ALLOW', 'r'] : ['DENY', '']);
  });

  it('server labels win over caller labels', () => {
    const request = { labels: { tier: 'gold' }, server_labels: { tier: 'free' } };

    expect(verdict(allowWhen('{labels: {tier: gold}}'), request)).toEqual(['DENY', '']);
  });

  it('derived risk tags replace the caller’s, and a missing amount is the worst case', () => {
    const policy = allowWhen('{risk_tags: [huge]}');
    const tiers = [100, 1_000].map((from) => ({ from, tag: from === 100 ? 'big' : 'huge' }));
    const of = (content: string) =>
      verdict(policy, {
        input_content: content,
        meta: { risk_tags: ['huge'] },
        risk_tag_deriver: { kind: 'amount-threshold', tiers },
      })[0];

    expect(['{"amount": 2000}', '{"amount": 0}', '{"amount": "x"}', 'prompt'].map(of)).toEqual(Array(4).fill('ALLOW'));
    expect(of('{"amount": 500}')).toBe('DENY');
    // Without a deriver, the caller's tags are used.
    expect(of('{"amount": 50}')).toBe('ALLOW');
  });
});
