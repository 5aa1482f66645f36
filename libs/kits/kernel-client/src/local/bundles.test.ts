import { signBundle, type BundleRecord } from '@svc/policy';
import { queues } from '@svc/queues.config';
import { StartError, systemClock } from '@svc/runtime';
import { openStore, type Store } from '@svc/store';
import { eventually, startRedis, type TestServer } from '@svc/testing';
import { Redis } from 'ioredis';
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { LoadReport } from '../events';
import type { Kernel } from '../kernel';
import { kernelFiles, listeningLog } from '../kernel.testing';
import type { BundleSettings } from './load-bundles';
import { openLocalKernel } from './open-local-kernel';

const base =
  "version: '1'\ndefault_decision: deny\nrules:\n  - {id: base, match: {topics: [job.base]}, decision: allow}\n";
const allowing = (id: string, topic = `job.${id}`) =>
  `version: '1'\nrules:\n  - {id: ${id}, match: {topics: [${topic}]}, decision: allow}\n`;
const bundle = (content: string, over: Partial<BundleRecord> = {}): BundleRecord => ({
  content,
  enabled: true,
  ...over,
});

describe('bundles in the kernel', () => {
  let server: TestServer;
  let redis: Redis;
  let store: Store;
  let files: ReturnType<typeof kernelFiles>;
  const kernels: Kernel[] = [];
  let reports: LoadReport[] = [];
  let revision = 0;

  const write = async (bundles: Record<string, unknown>) => {
    revision += 1;
    const document = { scope: 'system', scope_id: 'policy', data: { bundles }, revision, updated_at: '', meta: {} };
    expect(await store.config.replace(document, revision - 1)).toBe(true);
  };
  const open = async (over: Partial<BundleSettings> = {}) => {
    const settings = files.settings({ reloadIntervalMs: 1_000 });
    const kernel = await openLocalKernel(
      { ...settings, bundles: { ...settings.bundles, ...over } },
      { redis, log: listeningLog().log, clock: systemClock(), onReload: (report) => reports.push(report) },
    );
    kernels.push(kernel);
    return kernel;
  };
  const ruleFor = async (kernel: Kernel, topic: string) =>
    (await kernel.check({ topic, tenant: 'acme', job_id: 'j1' })).rule_id;

  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url, { maxRetriesPerRequest: 1, commandTimeout: 1_000 });
    redis.on('error', () => undefined);
    store = openStore(redis, queues, { metaSec: 60, dataSec: 60 });
  });
  beforeEach(async () => {
    await redis.del('cfg:system:policy', 'cfg:system:default', 'svc:cfg:revisions');
    revision = 0;
    reports = [];
    files = kernelFiles();
    files.policy(base);
  });
  afterEach(async () => {
    await Promise.all(kernels.splice(0).map((kernel) => kernel.close()));
    files.remove();
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  it('are merged with the file at startup when they are enabled', async () => {
    await write({ 'secops/a': bundle(allowing('a')), 'secops/b': bundle(allowing('b'), { enabled: false }) });

    const kernel = await open();

    expect([await ruleFor(kernel, 'job.base'), await ruleFor(kernel, 'job.a')]).toEqual(['base', 'a']);
    expect(await ruleFor(kernel, 'job.b')).toBe('');
  });

  it('with a later id override rules of the same id', async () => {
    await write({ 'secops/z': bundle(allowing('base', 'job.z')), 'secops/a': bundle(allowing('base', 'job.a')) });

    const kernel = await open();

    const rules = await Promise.all(['job.base', 'job.a', 'job.z'].map((topic) => ruleFor(kernel, topic)));
    expect(rules).toEqual(['', '', 'base']);
  });

  it('take effect in every kernel with the same snapshot', async () => {
    const three = await Promise.all([open(), open(), open()]);
    const [before] = await (three[0] as Kernel).listSnapshots();

    await write({ 'secops/a': bundle(allowing('a')) });

    for (const kernel of three) await eventually(async () => expect(await ruleFor(kernel, 'job.a')).toBe('a'));
    const snapshots = await Promise.all(three.map(async (kernel) => (await kernel.listSnapshots())[0]));
    expect(new Set(snapshots).size).toBe(1);
    expect(snapshots[0]).not.toBe(before);
  });

  it('written without a change notification are detected', async () => {
    const kernel = await open();
    const document = {
      scope: 'system',
      scope_id: 'policy',
      data: { bundles: { 'secops/a': allowing('a') } },
      revision: 5,
    };

    await redis.set('cfg:system:policy', JSON.stringify(document));

    await eventually(async () => expect(await ruleFor(kernel, 'job.a')).toBe('a'));
  });

  it('that are invalid leave the policy in effect and report the position', async () => {
    await write({ 'secops/a': bundle(allowing('a')) });
    const kernel = await open();

    await write({ 'secops/a': bundle('rules:\n  - {id: x, decision: allow, colour: red}\n'), 'secops/c': 7 });
    await eventually(() => expect(reports.at(-1)?.kind).toBe('refused'));

    const report = JSON.stringify(reports.at(-1));
    expect(report).toContain('bundle secops/c');
    expect(await ruleFor(kernel, 'job.a')).toBe('a');
    await write({ 'secops/a': bundle('rules:\n  - {id: x, decision: allow, colour: red}\n') });
    await eventually(() => expect(JSON.stringify(reports.at(-1))).toContain('bundle secops/a:2:'));
    await write({ 'secops/a': bundle(allowing('b')) });
    await eventually(async () => expect(await ruleFor(kernel, 'job.b')).toBe('b'));
  });

  it('and a file changed while Redis was unavailable take effect once it is available', async () => {
    const kernel = await open();
    await redis.set('cfg:system:policy', '{');
    files.policy(base.replace('job.base', 'job.moved'));
    await eventually(() => expect(JSON.stringify(reports.at(-1))).toContain('cannot read the bundles'));
    const reported = reports.length;

    const data = { bundles: { 'secops/a': bundle(allowing('a')) } };
    await redis.set('cfg:system:policy', JSON.stringify({ scope: 'system', scope_id: 'policy', data, revision: 0 }));

    await eventually(async () => expect(await ruleFor(kernel, 'job.a')).toBe('a'));
    expect(await ruleFor(kernel, 'job.moved')).toBe('base');
    // Reported once despite retries, then the success once.
    expect(reports.slice(reported).map(({ kind }) => kind)).toEqual(['loaded']);
  });

  it('are ignored when disabled', async () => {
    await write({ 'secops/a': bundle(allowing('a')) });

    expect(await ruleFor(await open({ disabled: true, strict: 'enforce' }), 'job.a')).toBe('');
  });

  it('are read from the configured document', async () => {
    const document = { scope: 'org', scope_id: 'rules', data: { mine: { 'secops/a': bundle(allowing('a')) } } };
    await store.config.replace({ ...document, revision: 1, updated_at: '', meta: {} }, 0);

    expect(await ruleFor(await open({ scope: 'org', id: 'rules', key: 'mine' }), 'job.a')).toBe('a');
  });

  it('of workflows extend the policy once the installation settings allow it, in every kernel, with another snapshot', async () => {
    const override = `tier: workflow\nselector: {workflow_id: w}\n${allowing('a')}`;
    await write({ 'workflow/w/policy': bundle(override) });
    const kernels = await Promise.all([open(), open()]);
    const decisions = () =>
      Promise.all(kernels.map((kernel) => kernel.check({ topic: 'job.a', tenant: 'acme', workflow_id: 'w' })));
    const configure = async (policy: object, at: number) => {
      const document = {
        scope: 'system',
        scope_id: 'default',
        data: { policy },
        revision: at,
        updated_at: '',
        meta: {},
      };
      expect(await store.config.replace(document, at - 1)).toBe(true);
    };
    const becomes = (decision: string) =>
      eventually(async () => expect((await decisions()).map((one) => one.decision)).toEqual([decision, decision]));
    const [before] = await decisions();
    expect(before?.decision).toBe('DENY');

    await configure({ overrides: 'extend' }, 1);
    await becomes('ALLOW');
    expect((await decisions())[0]?.policy_snapshot).not.toBe(before?.policy_snapshot);
    await configure({ overrides: 'anything else' }, 2);
    await becomes('DENY');
    expect((await decisions())[0]?.policy_snapshot).toBe(before?.policy_snapshot);
  });

  describe('and their signatures', () => {
    const pair = generateKeyPairSync('ed25519');
    const other = generateKeyPairSync('ed25519');
    const text = (key: KeyObject) => key.export({ type: 'spki', format: 'der' }).toString('base64');
    const publicKeys = { Main: text(pair.publicKey) };
    const signed = (content: string, key = pair.privateKey, id = 'main'): BundleRecord => ({
      content,
      enabled: true,
      _signature: signBundle(content, { id, key: createPrivateKey(key.export({ type: 'pkcs8', format: 'pem' })) }),
    });
    const faulty: [string, BundleRecord][] = [
      ['no signature', bundle(allowing('a'))],
      ['a key that is not trusted', signed(allowing('a'), other.privateKey, 'stranger')],
      ['the name of a trusted key', signed(allowing('a'), other.privateKey)],
      ['a changed text', { ...signed(allowing('b')), content: allowing('a') }],
      ['an invalid signature', { ...bundle(allowing('a')), _signature: { algorithm: 'rsa' } as never }],
    ];

    it.each(faulty)('enforce: %s rejects the whole load, and prevents startup', async (_, bad) => {
      const kernel = await open({ strict: 'enforce', publicKeys });
      await write({ 'secops/a': bad, 'secops/good': signed(allowing('good')) });

      await eventually(() => expect(reports.at(-1)?.kind).toBe('refused'));
      expect(await ruleFor(kernel, 'job.good')).toBe('');
      expect(await ruleFor(kernel, 'job.base')).toBe('base');
      await expect(open({ strict: 'enforce', publicKeys })).rejects.toThrow(StartError);
      await write({ 'secops/a': signed(allowing('a')) });
      await eventually(async () => expect(await ruleFor(kernel, 'job.a')).toBe('a'));
    });

    it.each(faulty)('warn: %s is loaded and reported', async (_, bad) => {
      await write({ 'secops/a': bad });

      expect(await ruleFor(await open({ strict: 'warn', publicKeys }), 'job.a')).toBe('a');

      expect(reports[0]).toMatchObject({ kind: 'loaded', unsigned: [expect.stringContaining('bundle secops/a:')] });
    });

    it('drafts need none, and mode off requires none', async () => {
      await write({ 'secops/a': bundle(allowing('a'), { enabled: false }) });
      await open({ strict: 'enforce', publicKeys });
      await write({ 'secops/a': bundle(allowing('a')) });

      expect(await ruleFor(await open({ strict: 'off' }), 'job.a')).toBe('a');
      expect(reports.at(-1)).toMatchObject({ kind: 'loaded', unsigned: [] });
    });

    it('does not start without a key, or with an invalid one', async () => {
      await expect(open({ strict: 'enforce' })).rejects.toThrow('no public key is configured');
      await expect(open({ publicKeys: { A: 'zzz' } })).rejects.toMatchObject({ where: 'SVC_POLICY_PUBLIC_KEY_A' });
    });
  });
});
