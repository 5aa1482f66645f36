import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFleetFiles } from './fleet-files';

describe('the pools and timeouts files', () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-fleet-'));
  afterAll(() => rmSync(dir, { recursive: true }));
  const [poolsPath, timeoutsPath] = [join(dir, 'pools.yaml'), join(dir, 'timeouts.yaml')];
  let reported: string[];
  let changes = 0;
  const write = (path: string, text: string) => {
    writeFileSync(path, text);
    const at = new Date(1_700_000_000_000 + changes++ * 1_000);
    utimesSync(path, at, at);
  };
  const open = (production = false) =>
    openFleetFiles(
      { poolsPath, timeoutsPath, production },
      { onProblem: (problem) => reported.push(problem), onChange: (what) => reported.push(what) },
    );
  beforeEach(() => {
    reported = [];
    write(poolsPath, 'topics: {job.a: main}\npools: {main: {}}');
    write(timeoutsPath, 'reconciler: {scan_interval_seconds: 7}');
  });

  it('are read again when they change, and an invalid change leaves the last valid one in effect', async () => {
    const files = await open();
    write(poolsPath, 'topics: {job.b: main}\npools: {main: {}}');
    await files.refresh();
    expect([Object.keys(files.pools().topics), reported]).toEqual([['job.b'], ['pools']]);

    write(poolsPath, 'topics: {job.c: MAIN}');
    await files.refresh();
    await files.refresh();

    expect(Object.keys(files.pools().topics)).toEqual(['job.b']);
    expect(reported.slice(1)).toEqual([expect.stringContaining('pools.yaml:1:')]);
  });

  it('are not read during a write: a partial file may lack a pool', async () => {
    const files = await open();
    const writing = setInterval(() => write(poolsPath, 'topics: {job.half: main}\npools: {main: {}}'), 5);
    write(poolsPath, 'topics: {}\npools: {main: {}}');

    await files.refresh();
    clearInterval(writing);

    expect([Object.keys(files.pools().topics), reported]).toEqual([['job.a'], []]);
    await files.refresh();
    expect(Object.keys(files.pools().topics)).toEqual(['job.half']);
  });

  it('abort the start when the pools are invalid, with the line', async () => {
    write(poolsPath, 'topics:\n  job.a: MAIN');

    await expect(open()).rejects.toMatchObject({
      where: poolsPath,
      fix: expect.stringContaining('pools.yaml:2:') as string,
    });
  });

  it('fall back to the default timeouts in development, and abort the start in production', async () => {
    write(timeoutsPath, 'reconciler: {scan_interval_seconds: 0}');

    expect((await open()).timeouts().reconciler.scan_interval_seconds).toBe(30);
    expect(reported).toHaveLength(1);
    await expect(open(true)).rejects.toThrow('timeouts file');
  });

  it('report a missing pools file', async () => {
    rmSync(poolsPath);

    expect((await open()).pools()).toEqual({ topics: {}, pools: {} });
    expect(reported).toEqual([expect.stringContaining('does not exist')]);
  });
});
