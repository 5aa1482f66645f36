import { queues } from '@svc/queues.config';
import { systemClock } from '@svc/runtime';
import { changeDocument, readDocument } from '@svc/settings';
import { openStore } from '@svc/store';
import { eventually, startService, useServers } from '@svc/testing';
import { Redis } from 'ioredis';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

jest.setTimeout(60_000);

describe('a scheduler that starts', () => {
  const servers = useServers();
  const dir = mkdtempSync(join(tmpdir(), 'svc-test-config-files-'));
  const pools = join(dir, 'pools.yaml');
  const stops: (() => unknown)[] = [];
  afterEach(async () => {
    for (const stop of stops.reverse()) await stop();
    rmSync(dir, { recursive: true });
  });

  it('writes its files into system/default, migrates old bundles, and rewrites a file when it changes', async () => {
    const redis = new Redis(servers.redisUrl);
    stops.push(() => redis.quit());
    const deps = { store: openStore(redis, queues, { metaSec: 60, dataSec: 60 }), clock: systemClock() };
    const data = async (scope_id: string) => (await readDocument(deps, { scope: 'system', scope_id }))?.data;
    const bundles = { 'secops/a': { content: 'rules: []', enabled: false } };
    await changeDocument(deps, { scope: 'system', scope_id: 'default' }, () => ({ data: { bundles, mine: 1 } }));
    writeFileSync(pools, 'topics: {job.a: main}\n');

    const scheduler = await startService('scheduler', servers, { POOL_CONFIG_PATH: pools });
    stops.push(() => scheduler.stop());

    await eventually(async () =>
      expect(await data('default')).toMatchObject({ mine: 1, pools: { topics: { 'job.a': ['main'] } }, timeouts: {} }),
    );
    expect(await data('default')).not.toHaveProperty('bundles');
    expect(await data('policy')).toEqual({ bundles });

    const revision = /svc_config_revision\{[^}]*document="system\/policy"[^}]*\} 1/;
    await eventually(async () => expect(await scheduler.metrics()).toMatch(revision));

    writeFileSync(pools, 'topics: {job.b: main}\n');
    utimesSync(pools, new Date(), new Date(Date.now() + 5_000));
    await eventually(
      async () => expect(await data('default')).toMatchObject({ pools: { topics: { 'job.b': ['main'] } } }),
      { withinMs: 20_000 },
    );
  });
});
