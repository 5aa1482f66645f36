import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFleetFiles, syncFiles } from '@svc/registry';
import { useConfig } from '@svc/fixtures/settings';
import { configUpkeep } from './config-upkeep';
import { migrateBundles } from './migrate-bundles';

const use = useConfig();

describe('the pools and timeouts files', () => {
  const dirs: string[] = [];
  afterAll(() => {
    for (const dir of dirs) rmSync(dir, { recursive: true });
  });
  const files = (texts: { pools?: string; timeouts?: string }) => {
    const dir = mkdtempSync(join(tmpdir(), 'svc-test-config-'));
    dirs.push(dir);
    const [poolsPath, timeoutsPath] = [join(dir, 'pools.yaml'), join(dir, 'timeouts.yaml')];
    if (texts.pools) writeFileSync(poolsPath, texts.pools);
    if (texts.timeouts) writeFileSync(timeoutsPath, texts.timeouts);
    const settings = { poolsPath, timeoutsPath, production: false };
    return openFleetFiles(settings, { onProblem: () => undefined, onChange: () => undefined });
  };
  const pools = 'topics: {job.a: [main]}\npools: {main: {requires: [crane]}}\n';
  const timeouts = 'reconciler: {scan_interval_seconds: 7}\n';
  const sync = async (texts: Parameters<typeof files>[0]) => syncFiles(use.replica(), await files(texts));
  const data = async () => (await use.stored('system', 'default'))?.data;

  it('are written, with their hashes and a notice, when their keys are absent', async () => {
    await use.given('system', 'default', { mine: 1 });

    await sync({ pools, timeouts });

    expect(await data()).toEqual({
      mine: 1,
      pools: {
        topics: { 'job.a': ['main'] },
        pools: { main: { requires: ['crane'], status: 'active', description: '' } },
      },
      timeouts: expect.objectContaining({ reconciler: expect.objectContaining({ scan_interval_seconds: 7 }) }),
      _poolsFileHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      _timeoutsFileHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(use.notices).toHaveLength(1);
  });

  it('that did not change leave an edited document as it is', async () => {
    await sync({ pools, timeouts });
    await use.given('system', 'default', { ...(await data()), pools: { topics: {} } });

    await sync({ pools, timeouts });

    expect(await use.stored('system', 'default')).toMatchObject({ revision: 2, data: { pools: { topics: {} } } });
    expect(use.notices).toHaveLength(1);
  });

  it('that changed replace the document, each independently', async () => {
    await sync({ pools, timeouts });
    await use.given('system', 'default', { ...(await data()), pools: {}, timeouts: {} });

    await sync({ pools: pools.replace('job.a', 'job.b'), timeouts });

    expect(await data()).toMatchObject({ pools: { topics: { 'job.b': ['main'] } }, timeouts: {} });
  });

  it('are written again when their key was removed; a missing file writes nothing', async () => {
    await sync({ pools });
    const { pools: written, ...rest } = (await data()) ?? {};
    await use.given('system', 'default', rest);

    await sync({ pools });

    expect((await data())?.['pools']).toEqual(written);
    expect(await data()).not.toHaveProperty('timeouts');
  });

  it('are written once when several schedulers start at once', async () => {
    const all = await Promise.all(Array.from({ length: 4 }, () => files({ pools, timeouts })));

    await Promise.all(all.map((one) => syncFiles(use.replica(), one)));

    expect((await use.stored('system', 'default'))?.revision).toBe(1);
    expect(use.notices).toHaveLength(1);
  });

  it('are checked once, again after a change, and again after a failure', async () => {
    const one = await files({ pools });
    const replica = use.replica();
    const broken = { ...replica.store.config, documents: () => Promise.reject(new Error('away')) };
    let config = broken as unknown as typeof replica.store.config;
    const upkeep = configUpkeep(
      { ...replica, store: { get config() { return config; } } },
      one,
      { onMoved: () => undefined, onStays: () => undefined },
    );
    const remove = () => use.given('system', 'default', {});

    await expect(upkeep.run()).rejects.toThrow('away');
    config = replica.store.config;
    await upkeep.run();
    expect(await data()).toHaveProperty('pools');
    await remove();
    await upkeep.run();
    expect(await data()).toEqual({});
    upkeep.fileChanged();
    await upkeep.run();
    expect(await data()).toHaveProperty('pools');
  });
}); // prettier-ignore

describe('bundles that an older version kept in system/default', () => {
  const old = { 'secops/a': { content: 'old a' }, 'secops/b': { content: 'old b' } };
  const bundles = async () => (await use.stored('system', 'policy'))?.data['bundles'];
  const migrate = () => migrateBundles(use.replica());

  it('move to system/policy, where a bundle with the same id wins', async () => {
    await use.given('system', 'default', { bundles: old, mine: 1 });
    await use.given('system', 'policy', { bundles: { 'secops/b': { content: 'new b' } }, other: 1 });

    expect(await migrate()).toEqual({ moved: ['secops/a', 'secops/b'], stays: false });

    expect(await use.stored('system', 'policy')).toMatchObject({
      data: { bundles: { 'secops/a': { content: 'old a' }, 'secops/b': { content: 'new b' } }, other: 1 },
    });
    expect((await use.stored('system', 'default'))?.data).toEqual({ mine: 1 });
    expect(use.notices).toHaveLength(1);
    expect(await migrate()).toEqual({ moved: [], stays: false });
  });

  it('are neither lost nor moved twice when the process dies in between', async () => {
    await use.given('system', 'default', { bundles: old });
    const { store, ...replica } = use.replica();
    const dying = { ...replica, store: { config: Object.assign(Object.create(store.config), { replace: replaceOnce(store.config) }) } };

    await expect(migrateBundles(dying as ReturnType<typeof use.replica>)).rejects.toThrow('died');

    expect(await bundles()).toEqual(old);
    expect((await use.stored('system', 'default'))?.data).toEqual({ bundles: old });
    await migrate();
    expect(await bundles()).toEqual(old);
    expect((await use.stored('system', 'default'))?.data).toEqual({});
    expect((await use.stored('system', 'policy'))?.revision).toBe(1);
  });

  it('are all kept when several schedulers start at once', async () => {
    await use.given('system', 'default', { bundles: old });

    await Promise.all(Array.from({ length: 4 }, migrate));

    expect(await bundles()).toEqual(old);
    expect((await use.stored('system', 'default'))?.data).toEqual({});
  });

  it('stay in place when either `bundles` value is not a map', async () => {
    await use.given('system', 'default', { bundles: 'none' });
    expect(await migrate()).toEqual({ moved: [], stays: true });

    await use.given('system', 'default', { bundles: old });
    await use.given('system', 'policy', { bundles: [] });
    expect(await migrate()).toEqual({ moved: [], stays: true });
    expect((await use.stored('system', 'default'))?.data).toEqual({ bundles: old });
  });
}); // prettier-ignore

/** Writes the first time, and dies the second. */
function replaceOnce(config: { replace(...args: never[]): Promise<boolean> }) {
  let writes = 0;
  return (...args: never[]) => {
    writes += 1;
    return writes === 1 ? config.replace(...args) : Promise.reject(new Error('died'));
  };
}
