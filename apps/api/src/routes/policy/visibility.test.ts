import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

const override = 'workflow~intake~policy';
const secret = 'acme-limits';
const missing = { status: 404, code: 'bundle_not_found' };

describe('policies of two tenants other than the default tenant', () => {
  const api = useApi({ env: { TENANT_ID: 'house' } });
  const installation = () => api.as('everywhere');
  const text = async (as: 'admin' | 'other' | 'everywhere', path: string) =>
    JSON.stringify((await api.as(as).get(`/api/v1/policy/${path}`)).body);
  const saveWorkflow = (more: object = {}) =>
    api.as('admin').post('/api/v1/workflows', {
      id: 'intake',
      name: 'intake',
      steps: { stow: { topic: 'job.stow' } },
      policy_override: [
        "version: '1'",
        'tier: workflow',
        'selector: { workflow_id: intake }',
        `rules: [{ id: ${secret}, match: { topics: [job.stow] }, decision: deny }]`,
      ].join('\n'),
      created_by: 'ann-of-acme',
      ...more,
    });
  beforeEach(async () => {
    expect((await saveWorkflow()).status).toBe(201);
    const content = "version: '1'\nrules: [{ id: shared-rule, match: { topics: [job.x] }, decision: deny }]";
    expect((await installation().put('/api/v1/policy/bundles/secops~shared', { content })).status).toBe(200);
  });

  it("200: an override is listed to its workflow's tenant and to the operators, a global bundle to all", async () => {
    for (const path of ['bundles', 'rules?include_disabled=true']) {
      expect(await text('admin', path)).toContain('workflow/intake/policy');
      expect(await text('everywhere', path)).toContain('workflow/intake/policy');
      const shown = await text('other', path);
      expect(shown).toContain('secops/shared');
      for (const hidden of ['intake', secret, 'ann-of-acme']) expect(shown).not.toContain(hidden);
    }
  });

  it('404: an override of another tenant cannot be read, simulated or shadowed', async () => {
    const globex = api.as('other');
    const request = { topic: 'job.stow' };
    const content = "version: '1'\nrules: []";

    expect(statusAndCode(await globex.get(`/api/v1/policy/bundles/${override}`))).toEqual(missing);
    expect(statusAndCode(await globex.post(`/api/v1/policy/bundles/${override}/simulate`, { request }))).toEqual(
      missing,
    );
    expect(statusAndCode(await globex.put(`/api/v1/policy/shadows/${override}`, { content }))).toEqual(missing);

    expect((await api.as('admin').get(`/api/v1/policy/bundles/${override}`)).status).toBe(200);
    expect((await api.as('admin').post(`/api/v1/policy/bundles/${override}/simulate`, { request })).status).toBe(200);
  });

  it('200: a snapshot shows the overrides of the tenant’s own workflows', async () => {
    const taken = await installation().post('/api/v1/policy/bundles/snapshots', { note: 'before' });
    const path = `bundles/snapshots/${String(taken.body['id'])}`;

    expect(JSON.stringify(taken.body)).toContain(secret);
    expect(await text('admin', path)).toContain(secret);
    expect(await text('other', path)).not.toContain('intake');
    expect(await text('other', path)).toContain('secops/shared');
  });

  it('200: reusing the id of a removed workflow reveals nothing of its former override', async () => {
    const taken = await installation().post('/api/v1/policy/bundles/snapshots', { note: 'before' });
    await api.as('admin').del('/api/v1/workflows/intake');
    await api
      .as('other')
      .post('/api/v1/workflows', { id: 'intake', name: 'x', steps: { stow: { topic: 'job.stow' } } });

    expect(await text('other', `bundles/snapshots/${String(taken.body['id'])}`)).not.toContain(secret);
  });
});
