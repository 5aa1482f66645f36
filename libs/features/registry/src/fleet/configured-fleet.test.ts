import { defaultTimeouts, parsePools } from '@svc/routing';
import { eventually } from '@svc/testing';
import { useConfig } from '@svc/fixtures/settings';
import { syncFiles } from './sync-files';
import { ConfiguredFleet } from './configured-fleet';

const use = useConfig();
const parseTable = (text: string) => {
  const parsed = parsePools(text, 'pools', true);
  if (!parsed.ok) throw new Error('a table of this test is invalid');
  return parsed.value;
};
const ofFile = parseTable(
  'topics: {job.a: [crane, spare]}\npools: {crane: {requires: [hook], description: x}, spare: {}}',
);

describe('the pools and timeouts in effect', () => {
  const file: { pools: ReturnType<typeof parseTable>; hash: string | undefined } = { pools: ofFile, hash: 'h1' };
  const problems: string[] = [];
  const files = {
    pools: () => file.pools,
    timeouts: () => defaultTimeouts,
    hashes: () => (file.hash ? { pools: file.hash, timeouts: file.hash } : {}),
    refresh: async () => undefined,
  };
  const open = () =>
    new ConfiguredFleet(files, use.store, { production: true }, { onProblem: (problem) => problems.push(problem), onChange: () => undefined }); // prettier-ignore
  const change = async (data: Record<string, unknown>) =>
    use.given('system', 'default', { ...(await use.stored('system', 'default'))?.data, ...data });
  beforeEach(() => {
    Object.assign(file, { pools: ofFile, hash: 'h1' });
    problems.length = 0;
  });

  it('are those of the files, before and after they are written into system/default', async () => {
    const fleet = open();
    await fleet.refresh();
    expect(fleet.pools()).toBe(ofFile);

    await syncFiles(use.replica(), files);
    await fleet.refresh();

    expect(fleet.pools()).not.toBe(ofFile);
    expect(fleet.pools()).toEqual(ofFile);
    expect(fleet.timeouts()).toEqual(defaultTimeouts);
    expect(problems).toEqual([]);
  });

  it('are those of the document once it was edited, until the file changes', async () => {
    const fleet = open();
    await syncFiles(use.replica(), files);
    const timeouts = { reconciler: { scan_interval_seconds: 5 } };
    await change({ pools: { topics: { 'job.b': 'spare' }, pools: { spare: {} } }, timeouts });
    await fleet.refresh();

    expect(fleet.pools().topics).toEqual({ 'job.b': ['spare'] });
    expect(fleet.timeouts().reconciler.scan_interval_seconds).toBe(5);

    // A new file is in effect before and after it is written into the document.
    Object.assign(file, { pools: parseTable('topics: {job.c: spare}\npools: {spare: {}}'), hash: 'h2' });
    expect(fleet.pools().topics).toEqual({ 'job.c': ['spare'] });
    await syncFiles(use.replica(), files);
    await fleet.refresh();
    expect(fleet.pools().topics).toEqual({ 'job.c': ['spare'] });
  });

  it('stay in effect when the document is invalid, which is reported once', async () => {
    const fleet = open();
    await syncFiles(use.replica(), files);
    await change({ pools: { topics: { 'job.b': 'spare' }, pools: { spare: {} } } });
    await fleet.refresh();
    await change({ pools: { topics: { 'job.b': 'NONE' } } });

    await fleet.refresh();
    await fleet.refresh();

    expect(fleet.pools().topics).toEqual({ 'job.b': ['spare'] });
    expect(problems).toEqual([expect.stringContaining('pools of system/default')]);
  });

  it('are those of the document when there is no file', async () => {
    file.hash = undefined;
    const fleet = open();
    await change({ pools: { topics: { 'job.b': 'spare' }, pools: { spare: {} } } });
    await fleet.refresh();

    expect(fleet.pools().topics).toEqual({ 'job.b': ['spare'] });
    await use.given('system', 'default', {});
    await fleet.refresh();
    expect(fleet.pools()).toBe(ofFile);
  });

  it('are reloaded at a change notice, without reading the files', async () => {
    file.hash = undefined;
    const fleet = open();
    const { config } = use.replica();
    fleet.follow(config, (error) => problems.push(String(error)));
    await change({ pools: { topics: {}, pools: { spare: {} } } });

    config.changed();

    await eventually(async () => expect(Object.keys(fleet.pools().pools)).toEqual(['spare']));
    expect(problems).toEqual([]);
  });

  it('are those of the newest document after many reloads and writes at once', async () => {
    file.hash = undefined;
    const fleet = open();
    for (let i = 0; i < 20; i++) {
      const earlier = [fleet.reload(), fleet.reload()];
      await change({ pools: { topics: {}, pools: { [`pool-${i}`]: {} } } });

      await fleet.reload();

      expect(Object.keys(fleet.pools().pools)).toEqual([`pool-${i}`]);
      await Promise.all(earlier);
      expect(Object.keys(fleet.pools().pools)).toEqual([`pool-${i}`]);
    }
  });

  it('cost one small read per refresh while nothing changes', async () => {
    const fleet = open();
    await syncFiles(use.replica(), files);
    await fleet.refresh();
    await use.redis.config('RESETSTAT');

    for (let i = 0; i < 5; i++) await fleet.refresh();

    const stats = await use.redis.info('commandstats');
    expect(stats).toContain('cmdstat_hget:calls=5');
    expect(stats).not.toContain('cmdstat_mget');
  });
}); // prettier-ignore
