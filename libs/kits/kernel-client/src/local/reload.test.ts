import { kernelMetrics, openMetrics, systemClock } from '@svc/runtime';
import { eventually, startRedis, type TestServer } from '@svc/testing';
import { Redis } from 'ioredis';
import { closeSync, openSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { LoadReport } from '../events';
import type { Kernel } from '../kernel';
import { kernelFiles, listeningLog, signer } from '../kernel.testing';
import { openLocalKernel, type LocalKernelSettings } from './open-local-kernel';

/** Its first half is a whole policy too, and one that lets everything pass. */
const firstHalf = (version: number) => `version: '1'\nrules:\n  - {id: open-${version}, decision: allow}\n`;
const secondHalf = (version: number) =>
  `input_policy: {enabled: true, fail_mode: closed}\ninput_rules:\n  - {id: ban-${version}, decision: deny, match: {keywords: [forbidden]}}\n`;
const buildPolicy = (version: number) => firstHalf(version) + secondHalf(version);
const getVersion = (ruleId: string) => Number(ruleId.split('-').at(-1));

describe('files and bundles that change continuously', () => {
  let server: TestServer;
  let redis: Redis;
  let files: ReturnType<typeof kernelFiles>;
  let kernel: Kernel | undefined;
  let reports: LoadReport[];
  let lines: string[];
  let metrics: ReturnType<typeof openMetrics<typeof kernelMetrics>>;

  const open = async (settings: Partial<LocalKernelSettings> = {}) => {
    const listening = listeningLog();
    lines = listening.lines;
    kernel = await openLocalKernel(files.settings({ reloadIntervalMs: 300, ...settings }), {
      redis,
      log: listening.log,
      clock: systemClock(),
      metrics: metrics.metrics,
      onReload: (report) => reports.push(report),
    });
    return kernel;
  };
  const job = (content: string) => ({ topic: 'job.a', tenant: 'acme', job_id: 'j', input_content: content });
  const refusedLoads = async () =>
    Number(/^svc_safety_policy_load_total\{[^}]*result="error"[^}]*\} (\d+)/m.exec(await metrics.text())?.[1] ?? 0);

  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url);
  });
  beforeEach(async () => {
    await redis.flushall();
    reports = [];
    metrics = openMetrics({ ...kernelMetrics }, { pod: 'p' });
    files = kernelFiles();
    files.policy(buildPolicy(0));
  });
  afterEach(async () => {
    await kernel?.close();
    files.remove();
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  /**
   * Asks for verdicts all the while, scans among them, so that each is under way while policies change.
   *
   * @returns the versions that decided, in the order they were first seen
   */
  async function decideUntil(done: Promise<unknown>, asked: Kernel): Promise<number[]> {
    let isOver = false;
    void done.finally(() => (isOver = true));
    const versions = new Map<string, number>();
    while (!isOver) {
      const [open, banned] = await Promise.all([asked.check(job('fine')), asked.check(job('forbidden'))]);
      // A decision of half a policy, or of a mix of two.
      expect([open.decision, banned.decision]).toEqual(['ALLOW', 'DENY']);
      for (const { policy_snapshot, rule_id } of [open, banned]) {
        const known = versions.get(policy_snapshot) ?? getVersion(rule_id);
        expect([policy_snapshot, getVersion(rule_id)]).toEqual([policy_snapshot, known]);
        versions.set(policy_snapshot, known);
      }
    }
    expect(new Set(versions.values()).size).toBe(versions.size);
    return [...versions.values()];
  }

  it('a partially written file is never in effect', async () => {
    const kernel = await open({ reloadIntervalMs: 100 });
    const last = 40;
    const writing = (async () => {
      for (let version = 1; version <= last; version++) {
        const file = openSync(files.path('safety.yaml'), 'w');
        writeSync(file, firstHalf(version));
        await pause(40);
        writeSync(file, secondHalf(version));
        closeSync(file);
      }
    })();

    await decideUntil(writing, kernel);

    await eventually(async () => expect((await kernel.check(job('fine'))).rule_id).toBe(`open-${last}`));
    expect((await kernel.check(job('forbidden'))).rule_id).toBe(`ban-${last}`);
    expect(reports.filter(({ kind }) => kind === 'refused')).toEqual([]);
  });

  it('bundles written while the file is incomplete take effect with the previous file', async () => {
    const kernel = await open();
    const file = openSync(files.path('safety.yaml'), 'w');
    writeSync(file, firstHalf(1));
    const tearing = setInterval(() => writeSync(file, '#\n'), 5);

    await writeBundles(1, { 'secops/invariants': buildBundle('rules: [{id: more-1, decision: deny, match: {topics: [job.b]}}]\n') });
    await eventually(async () => expect((await kernel.check({ ...job('fine'), topic: 'job.b' })).rule_id).toBe('more-1'));
    const during = await kernel.check(job('forbidden'));
    clearInterval(tearing);
    closeSync(file);

    expect(during).toMatchObject({ decision: 'DENY', rule_id: 'ban-0' });
  }); // prettier-ignore

  it('a file that keeps changing is reported and not read', async () => {
    const kernel = await open({ reloadIntervalMs: 10 });
    let version = 0;
    const writing = setInterval(() => files.policy(firstHalf((version += 1))), 2);

    await eventually(() => expect(lines.join('')).toContain('files keep changing'), { withinMs: 10_000 });
    const during = await kernel.check(job('forbidden'));
    clearInterval(writing);

    expect(during).toMatchObject({ decision: 'DENY', rule_id: 'ban-0' });
    await eventually(async () => expect((await kernel.check(job('fine'))).rule_id).toBe(`open-${version}`));
  });

  it('unsigned files never take effect, and are reported once', async () => {
    const key = signer();
    files.write('safety.yaml.sig', key.sign(buildPolicy(0)));
    const kernel = await open({ reloadIntervalMs: 10, signature: { required: true, publicKey: key.raw } });
    const writing = (async () => {
      for (let i = 0; i < 100; i++) {
        files.policy(firstHalf(i));
        files.write('safety.yaml.sig', signer().sign(firstHalf(i)));
        await pause(10);
      }
    })();

    await decideUntil(writing, kernel);

    await eventually(() => expect(reports.at(-1)).toMatchObject({ kind: 'refused', what: 'policy' }));
    expect(reports.filter(({ kind }) => kind === 'refused')).toHaveLength(1);
    expect(await refusedLoads()).toBe(1);
    expect(lines.filter((line) => line.includes('ERROR')).join('')).toContain('does not match the file');
    expect((await kernel.check(job('forbidden'))).rule_id).toBe('ban-0');
  });

  it('with invalid bundles in between, each decision is that of one document, and the last valid one stays in effect', async () => {
    files.policy(`version: '1'\ndefault_decision: deny\n`);
    const all = (version: number) => ({ 'secops/a': buildBundle(firstHalf(version)), 'secops/b': buildBundle(secondHalf(version)) });
    await writeBundles(0, all(0));
    const kernel = await open();
    const last = 200;
    const inEffect = (version: number) =>
      eventually(async () => expect((await kernel.check(job('fine'))).rule_id).toBe(`open-${version}`));
    const writing = (async () => {
      for (let version = 1; version <= last; version++) {
        const bad = { ...all(version), 'secops/b': buildBundle('input_rules: [') };
        await writeBundles(version, version % 3 === 0 && version < last ? bad : all(version));
        await pause(10);
        // A slow reader skips versions, but not these.
        if ([50, 100, last].includes(version)) await inEffect(version);
      }
      await writeBundles(last + 1, { ...all(last + 1), 'secops/c': buildBundle('{') });
      await eventually(() => expect(reports.at(-1)).toMatchObject({ kind: 'refused', what: 'policy' }));
    })();

    const versions = await decideUntil(writing, kernel);
    await writing;

    expect(versions.length).toBeGreaterThan(2);
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    expect(versions.filter((version) => version % 3 === 0 && version > 0)).toEqual([]);
    expect(versions.at(-1)).toBe(last);
    expect(await refusedLoads()).toBeGreaterThan(0);
  }, 30_000); // prettier-ignore

  const buildBundle = (content: string) => ({ content, enabled: true });

  /** Writes the config document. */
  async function writeBundles(revision: number, bundles: Record<string, unknown>): Promise<void> {
    const document = { scope: 'system', scope_id: 'policy', data: { bundles }, revision, updated_at: '', meta: {} };
    await redis
      .multi()
      .set('cfg:system:policy', JSON.stringify(document))
      .hset('svc:cfg:revisions', 'system:policy', revision)
      .exec();
  }

  it('an invalid scanners file is logged and reported once, despite many problems and other changes', async () => {
    const pattern = (name: string, severity: string) =>
      `      - {name: ${name}, regex: 'dock-[0-9]', severity: ${severity}, confidence: high}`;
    const scanners = (severity: string, count: number) =>
      ['version: v1', 'scanners:', '  secret:', '    finding_type: secret_leak', '    patterns:']
        .concat(Array.from({ length: count }, (_, i) => pattern(`p${i}`, severity)))
        .join('\n');
    files.scanners(scanners('high', 1));
    await open();
    const of = (what: string, kind: string) => reports.filter((report) => report.what === what && report.kind === kind);

    files.scanners(scanners('none', 26));
    await eventually(() => expect(of('scanners', 'refused')).toHaveLength(1));
    // The second takes effect only after the scanners were checked with the first.
    for (const version of [1, 2]) {
      files.policy(buildPolicy(version));
      await eventually(() => expect(of('policy', 'loaded')).toHaveLength(1 + version));
    }

    expect(of('scanners', 'refused')).toHaveLength(1);
    const logged = lines.filter((line) => line.includes('scanners.yaml:'));
    expect(logged).toEqual([expect.stringMatching(/scanners\.yaml:6:.*scanners\.yaml:7:/)]);
    expect(logged[0]).toContain('26');

    files.scanners(scanners('high', 1));
    await eventually(() => expect(reports.at(-1)).toEqual({ kind: 'loaded', what: 'scanners' }));
  });

  it('a scanners file that is invalid at startup is not reported again while it is unchanged', async () => {
    files.scanners('scanners: 7');
    await open();

    for (const version of [1, 2]) {
      files.policy(buildPolicy(version));
      await eventually(() =>
        expect(reports.filter(({ what, kind }) => what === 'policy' && kind === 'loaded')).toHaveLength(1 + version),
      );
    }

    expect(reports.filter(({ what }) => what === 'scanners')).toHaveLength(1);
  });
});
