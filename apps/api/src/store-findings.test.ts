import { eventually } from '@svc/testing';
import { useApi } from './api.testing';

describe('problems of the store', () => {
  const api = useApi();
  const findings = async (who: 'admin' | 'viewer') => {
    const { body } = await api.as(who).get('/api/v1/status');
    return (body['redis'] as Record<string, unknown>)['findings'];
  };

  it('are in the status for admins only, with a remedy; requests are still served', async () => {
    const { redis } = api.store;
    await redis.call('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    redis.disconnect(true);

    await eventually(async () =>
      expect(await findings('admin')).toContainEqual({
        finding: 'eviction',
        what: expect.stringContaining('allkeys-lru'),
        fix: 'Set maxmemory-policy noeviction.',
      }),
    );
    expect(await findings('viewer')).toBeUndefined();
    expect((await api.as('user').post('/api/v1/jobs', { prompt: 'hello' })).status).toBe(200);
    expect((await api.anonymous.get('/readyz')).status).toBe(200);

    await redis.call('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
  });
});
