import { eventually } from '@svc/testing';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import { ban, bundleCalls } from './policy.testing';

describe('POST /api/v1/policy/bundles/:bundle_id/simulate', () => {
  const api = useApi();
  const { put } = bundleCalls(api);
  const simulate = (id: string, body: object, as = api.as('admin')) =>
    as.post(`/api/v1/policy/bundles/${id}/simulate`, body);
  const request = { topic: 'job.demo.echo' };
  const decided = async (id: string, body: object) => {
    const { status, body: answer } = await simulate(id, { request, ...body });
    return [status, answer['decision'], answer['ruleId']];
  };
  const allowed = [200, 'DECISION_TYPE_ALLOW', 'demo-allowed'];

  it('200: an unstored text is evaluated with the whole policy, without side effects', async () => {
    const content = ban('no-echo', 'job.demo.echo');

    expect(await decided('secops~invariants', { content })).toEqual([200, 'DECISION_TYPE_DENY', 'no-echo']);
    expect(await decided('secops~last', { content })).toEqual(allowed);
    expect(await decided('secops~invariants', { content: ban('other', 'job.other') })).toEqual(allowed);
    expect((await api.as('admin').post('/api/v1/policy/evaluate', request)).body['ruleId']).toBe('demo-allowed');
    const { body } = await simulate('secops~invariants', { request, content });
    expect(Object.keys(body).sort()).toEqual([
      'approvalRef', 'approvalRequired', 'constraints', 'decision', 'policySnapshot', 'reason', 'remediations', 'ruleId',
    ]); // prettier-ignore
  });

  it('200: a text replaces the bundle in effect, and a draft is evaluated as if enabled', async () => {
    await put('secops~invariants', { content: ban('no-echo', 'job.demo.echo') });
    await eventually(async () =>
      expect((await api.as('admin').post('/api/v1/policy/simulate', request)).body['ruleId']).toBe('no-echo'),
    );
    expect(await decided('secops~invariants', { content: ban('other', 'job.other') })).toEqual(allowed);
    expect(await decided('secops~invariants', {})).toEqual([200, 'DECISION_TYPE_DENY', 'no-echo']);

    await put('secops~invariants', { content: ban('draft', 'job.demo.echo'), enabled: false });
    await eventually(async () =>
      expect((await api.as('admin').post('/api/v1/policy/simulate', request)).body['ruleId']).toBe('demo-allowed'),
    );
    expect(await decided('secops~invariants', {})).toEqual([200, 'DECISION_TYPE_DENY', 'draft']);
  });

  it('404: neither stored nor sent', async () => {
    expect(statusAndCode(await simulate('secops~none', { request }))).toEqual({
      status: 404,
      code: 'bundle_not_found',
    });
  });

  it('400: an invalid policy, with the line; an invalid request', async () => {
    const refused = await simulate('secops~a', { request, content: 'rules:\n  - {id: r, decision: perhaps}\n' });

    expect(statusAndCode(refused)).toEqual({ status: 400, code: 'POLICY_VALIDATION_FAILED' });
    expect(refused.body['violations']).toMatchObject([{ field: 'content', line: 2 }]);
    expect(statusAndCode(await simulate('secops~a', { request, content: '' }))).toEqual({
      status: 400,
      code: 'POLICY_VALIDATION_FAILED',
    });
    expect(statusAndCode(await simulate('secops~a', { request: {} }))).toEqual({ status: 400, code: 'invalid_body' });
    expect(statusAndCode(await simulate('secops~a', { content: 'x' }))).toEqual({ status: 400, code: 'invalid_body' });
  });

  it('403: another tenant’s request', async () => {
    const answer = await simulate('secops~a', { request: { ...request, tenant: 'globex' }, content: 'rules: []' });

    expect(statusAndCode(answer)).toEqual({ status: 403, code: 'tenant_access_denied' });
  });
});

describe('POST /api/v1/policy/bundles/:bundle_id/simulate while the kernel is unavailable', () => {
  const api = useApi({ env: { SAFETY_KERNEL_ADDR: '127.0.0.1:1' } });

  it('503', async () => {
    const body = { request: { topic: 'job.a' }, content: ban('a', 'job.a') };
    const answer = await api.as('admin').post('/api/v1/policy/bundles/secops~a/simulate', body);

    expect(statusAndCode(answer)).toEqual({ status: 503, code: 'safety_unavailable' });
  });
});
