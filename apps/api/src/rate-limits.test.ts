import { changeDocument } from '@svc/settings';
import { useApi } from './api.testing';

describe('rate_limits of config', () => {
  const api = useApi();
  const set = async (scope: string, scope_id: string, rate_limits: object) => {
    await changeDocument(api.ctx.config, { scope, scope_id }, () => ({ data: { rate_limits } }));
    api.ctx.submit.config.changed();
  };
  /** Number of accepted requests among `count` requests of an admin. */
  const served = async (times: number, who: Parameters<typeof api.as>[0] = 'admin') => {
    const answers = await Promise.all(Array.from({ length: times }, () => api.as(who).get('/api/v1/jobs')));
    return answers.filter(({ status }) => status === 200).length;
  };

  it('429: a tenant over its configured limit per minute; other tenants are not affected', async () => {
    await set('org', 'acme', { requests_per_minute: 6 });

    expect(await served(10)).toBe(6);

    const { status, body, headers } = await api.as('admin').get('/api/v1/jobs');
    expect({ status, code: body['code'] }).toEqual({ status: 429, code: 'rate_limited' });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(headers['x-ratelimit-limit']).toBe('6');
    expect(await served(10, 'other')).toBe(10);
  });

  it.each([
    ['requests_per_hour', 4],
    ['burst_size', 3],
  ])('429: more than %s', async (setting, points) => {
    await set('system', 'default', { [setting]: points });

    const passed = await served(20);

    expect(passed).toBeGreaterThanOrEqual(points);
    // A second may end during the test, an hour hardly.
    expect(passed).toBeLessThan(setting === 'burst_size' ? 20 : points + 1);
  });

  it('200: no limit if none is set or if it is 0', async () => {
    await set('system', 'default', { requests_per_minute: 0, concurrent_jobs: 3 });

    expect(await served(50)).toBe(50);
  });
});
