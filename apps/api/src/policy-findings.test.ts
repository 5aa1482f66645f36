import { eventually } from '@svc/testing';
import { useApi } from './api.testing';

const rule = (id: string) => `version: '1'\nrules:\n  - {id: ${id}, match: {topics: [job.default]}, decision: deny}\n`;

describe('an invalid policy while the gateway runs', () => {
  const api = useApi();
  let revision = 0;
  const bundles = async (content: string) => {
    revision += 1;
    const data = { bundles: { 'secops/invariants': { content, enabled: true } } };
    const document = { scope: 'system', scope_id: 'policy', data, revision, updated_at: '', meta: {} };
    expect(await api.store.config.replace(document, revision - 1)).toBe(true);
  };
  const policy = async (who: 'admin' | 'viewer') => (await api.as(who).get('/api/v1/status')).body['policy'];
  const getAlerts = async () =>
    (await api.published())
      .filter(({ subject }) => subject === 'sys.alert')
      .map(({ bytes }) => Buffer.from(bytes).toString());

  it('raises an alert and is in the status for admins, with the line; the previous policy decides; its fix is reported too', async () => {
    await bundles(rule('first'));
    await eventually(async () =>
      expect((await api.as('user').post('/api/v1/jobs', { prompt: 'x', topic: 'job.default' })).status).toBe(403),
    );

    await bundles('rules: [{id: broken, colour: red}]');

    await eventually(async () =>
      expect(await policy('admin')).toEqual({
        ok: false,
        findings: expect.arrayContaining([
          { of: 'policy', problem: expect.stringContaining('secops/invariants:1:') },
        ]) as unknown,
      }),
    );
    expect(await policy('viewer')).toBeUndefined();
    await eventually(async () =>
      expect(await getAlerts()).toEqual([expect.stringContaining('the last good one stays')]),
    );
    expect((await api.as('user').post('/api/v1/jobs', { prompt: 'x', topic: 'job.default' })).status).toBe(403);
    expect((await api.anonymous.get('/readyz')).status).toBe(200);

    await bundles(rule('second'));
    await eventually(async () => expect(await policy('admin')).toEqual({ ok: true, findings: [] }));
    await eventually(async () => expect((await getAlerts()).at(-1)).toContain('is good again'));
  });
});
