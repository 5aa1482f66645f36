import { listApprovals } from '@svc/contract';
import { plainJob } from '@svc/fixtures/decision';
import { approvalView } from './approval-view';
import { cleanRemark } from './approval-record';

const held = (labels: Record<string, string> = {}, topic = 'job.default') =>
  plainJob({ state: 'APPROVAL_REQUIRED', topic, approval: { status: 'pending', revision: 1 } }, { labels });
const view = (context: unknown, job = held()) =>
  approvalView(job, context === undefined ? null : Buffer.from(JSON.stringify(context)));

describe('approvalView', () => {
  it('without a context lists the missing fields', () => {
    expect(view(undefined)).toMatchObject({
      decision_summary: {
        source: 'policy_only',
        completeness: 'minimal',
        context_status: 'missing',
        title: 'Run job.default',
        missing_fields: ['approval_context', 'business_context', 'why'],
      },
    });
    expect(view(undefined)).not.toHaveProperty('context_ptr');
  });

  it('uses the policy reason when the payload has no why', () => {
    const job = { ...held(), safety: { decision: 'REQUIRE_APPROVAL', reason: 'too much', checked_at: 1, source: 'gateway' } as const };

    expect(view({ prompt: 'x' }, job).decision_summary).toMatchObject({ why: 'too much', completeness: 'partial', missing_fields: ['business_context'] });
  });

  it('takes only well-formed fields from the payload', () => {
    const decision = { title: 7, why: 'w', subject: ['x'], currency: 'EUR', amount: { n: 1 }, items: 'many', vendor: 'v' };

    expect(view({ decision }).decision_summary).toEqual({
      source: 'workflow_payload',
      completeness: 'rich',
      context_status: 'available',
      title: 'Run job.default',
      why: 'w',
      currency: 'EUR',
      vendor: 'v',
    });
  });

  it.each([1, 'text', null, [], true])('a payload whose decision is %j has no business context', (decision) => {
    expect(view({ context: { decision } }).decision_summary.missing_fields).toContain('business_context');
  });

  it('reads the blast radius from labels, in their order', () => {
    const labels = { 'system:a': '', target_system: 'b', 'namespace:': '', 'resource:db:main': 'x', systems: 'no' };

    expect(view(undefined, held(labels)).blast_radius).toEqual({
      systems: ['a', 'b'],
      namespaces: [''],
      resources: ['db:main'],
      scope_description: 'systems: a, b; namespaces: ; resources: db:main',
    });
    expect(view(undefined).blast_radius).toEqual({ systems: [], namespaces: [], resources: [], scope_description: '' });
  });

  it('shows the gate type of an approval step', () => {
    expect(view(undefined, held({}, 'job.svc.approval-gate')).gate_type).toBe('workflow_approval');
    expect(view(undefined)).not.toHaveProperty('gate_type');
  });

  it.each([undefined, {}, { decision: { items: [1, 2, 3, 4] } }, 'text', [1]])('is what the contract declares (%j)', (context) => {
    const { error } = listApprovals.answer.body?.validate({ items: [view(context)], next_cursor: null }) ?? {};

    expect(error).toBeUndefined();
  });
}); // prettier-ignore

it.each([
  ['  fine \n', 'fine'],
  ['x'.repeat(600), 'x'.repeat(512)],
  [`xx${'€'.repeat(300)}`, `xx${'€'.repeat(170)}`],
  [`x${'𝕏'.repeat(200)}`, `x${'𝕏'.repeat(127)}`],
  ['', ''],
])('a remark (%#)', (text, kept) => {
  expect(cleanRemark(text)).toBe(kept);
});
