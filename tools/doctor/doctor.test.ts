import { openRedis, openStore } from '@svc/store';
import { queues } from '@svc/queues.config';
import { apiEnv, readEnv, systemClock } from '@svc/runtime';
import { useServers } from '@svc/testing';
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { diagnose } from './diagnose';
import { formatFindings } from './finding';

describe('the doctor', () => {
  const servers = useServers();
  const dir = mkdtempSync(join(tmpdir(), 'svc-doctor-'));
  afterAll(() => rmSync(dir, { recursive: true }));
  const checks = async (more: Record<string, string> = {}, laterMs = 0) => {
    const environment = {
      REDIS_URL: servers.redisUrl,
      NATS_URL: servers.natsUrl,
      GATEWAY_HTTP_ADDR: '127.0.0.1:1',
      ...more,
    };
    const clock = { ...systemClock(), nowMs: () => Date.now() + laterMs, nowUs: () => (Date.now() + laterMs) * 1_000 };
    const findings = await diagnose(environment, { clock });
    return new Map(findings.map(({ check, severity, what, fix }) => [check, { severity, what, fix }]));
  };

  it('reports what cannot be reached, and how to fix it', async () => {
    const found = await checks({ REDIS_URL: 'redis://127.0.0.1:1', NATS_URL: 'nats://127.0.0.1:1' });

    for (const check of ['store_unreachable', 'bus_unreachable', 'gateway_unreachable'])
      expect([check, found.get(check)]).toEqual([check, expect.objectContaining({ severity: 'error' })]);
    expect(found.get('store_unreachable')).toMatchObject({
      what: expect.stringContaining('ECONNREFUSED'),
      fix: expect.stringContaining('REDIS_URL'),
    });
  });

  it('reports a skewed clock, insecure flags, default credentials and an invalid license', async () => {
    const license = join(dir, 'license.json');
    writeFileSync(license, 'broken');

    const found = await checks(
      {
        SVC_ALLOW_INSECURE_NO_AUTH: 'true',
        SVC_ALLOW_HEADER_PRINCIPAL: 'false',
        SVC_API_KEY: 'changeme',
        SVC_LICENSE_FILE: license,
      },
      60_000,
    );

    expect(found.get('clock_skew')).toMatchObject({
      severity: 'error',
      what: expect.stringMatching(/differs by [56]\d{4} ms/),
    });
    expect(found.get('insecure_flag')).toMatchObject({
      what: 'SVC_ALLOW_INSECURE_NO_AUTH is on: requests without credentials are accepted',
      fix: 'Set SVC_ALLOW_INSECURE_NO_AUTH=false.',
    });
    expect(found.get('license')).toMatchObject({ severity: 'error', what: expect.stringContaining('fallback') });
    expect(found.has('default_credentials')).toBe(true);
    expect(found.get('bus')).toMatchObject({ severity: 'info' });
    expect(JSON.stringify([...found])).not.toContain('changeme');
  });

  it('reports topics without workers, and that no scheduler runs', async () => {
    expect((await checks()).get('no_scheduler')).toMatchObject({ severity: 'error' });
    const { values } = readEnv(apiEnv, { REDIS_URL: servers.redisUrl });
    const redis = await openRedis(values, 'request');
    const store = openStore(redis, queues, { metaSec: 60, dataSec: 60 });
    const snapshot = { captured_at: new Date().toISOString(), writer_id: 's', pools: {}, workers: [] };
    await store.workers.writeSnapshot(snapshot);
    const data = { pools: { pools: {}, topics: { 'job.default': ['demo'] } } };
    await redis.set(
      'cfg:system:default',
      JSON.stringify({ scope: 'system', scope_id: 'default', data, meta: {}, revision: 1 }),
    );

    const found = await checks();
    await redis.quit();

    expect(found.get('no_workers')).toEqual({
      severity: 'warning',
      what: 'no worker serves job.default',
      fix: 'Start a worker of pool demo; see "Write a worker" in README.md.',
    });
  });

  it('reports an unreadable certificate, and an environment with which the services would not start', async () => {
    const found = await checks({ NATS_TLS_CA: join(dir, 'none.pem') });
    const refused = await checks({ SVC_ENV: 'prodution' });

    expect(found.get('certificate')).toMatchObject({ severity: 'error' });
    expect([...refused.keys()]).toEqual(['environment']);
  });

  it('prints errors first', () => {
    const text = formatFindings([
      { severity: 'info', check: 'a', what: 'w', fix: '' },
      { severity: 'error', check: 'b', what: 'x', fix: 'Do it.' },
    ]);

    expect(text).toBe('error    b: x\n         Fix: Do it.\ninfo     a: w\n1 error, 0 warnings');
  });
});
