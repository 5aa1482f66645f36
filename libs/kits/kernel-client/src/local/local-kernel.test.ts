import type { PolicyRequest } from '@svc/policy';
import { StartError, systemClock } from '@svc/runtime';
import { eventually, startRedis, type TestServer } from '@svc/testing';
import { Redis } from 'ioredis';
import type { Kernel } from '../kernel';
import { kernelFiles, listeningLog, signer } from '../kernel.testing';
import { openLocalKernel, type KernelDeps, type LocalKernelSettings } from './open-local-kernel';

const allowing = (id: string, more = '') => `version: '1'\nrules:\n  - {id: ${id}, decision: allow}\n${more}`;
const job = (over: Partial<PolicyRequest> = {}): PolicyRequest => ({
  topic: 'job.a',
  tenant: 'acme',
  job_id: 'j1',
  ...over,
});

describe('the kernel within a process', () => {
  let server: TestServer;
  let redis: Redis;
  let files: ReturnType<typeof kernelFiles>;
  let kernels: Kernel[] = [];
  const open = async (settings: Partial<LocalKernelSettings> = {}, deps: Partial<KernelDeps> = {}) => {
    const kernel = await openLocalKernel(files.settings(settings), {
      redis,
      log: listeningLog().log,
      clock: systemClock(),
      ...deps,
    });
    kernels.push(kernel);
    return kernel;
  };
  const refusal = (opening: Promise<Kernel>) =>
    opening.then(
      () => 'opened',
      (error: unknown) => (error instanceof StartError ? `${error.message}: ${error.where}\n${error.fix}` : error),
    );

  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url, { maxRetriesPerRequest: 1, commandTimeout: 500, disconnectTimeout: 50 });
    redis.on('error', () => undefined);
  });
  beforeEach(async () => {
    await redis.flushall();
    files = kernelFiles();
    files.policy(allowing('first'));
  });
  afterEach(async () => {
    await Promise.all(kernels.map((kernel) => kernel.close()));
    kernels = [];
    files.remove();
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  it('returns the decision with its policy and rule', async () => {
    const kernel = await open();

    const decision = await kernel.check(job());

    expect(decision).toMatchObject({ decision: 'ALLOW', rule_id: 'first' });
    expect(await kernel.listSnapshots()).toEqual([decision.policy_snapshot]);
    expect(kernel.ready()).toEqual({ ok: true });
  });

  it('does not start with an invalid policy, and reports every problem with its line', async () => {
    files.policy("version: '1'\nrules:\n  - {id: a, decision: maybe, match: {topics: 7}}\n  - {id: b}\n");

    const text = await refusal(open());

    expect(text).toContain(`invalid policy: ${files.path('safety.yaml')}`);
    expect(text).toContain(`${files.path('safety.yaml')}:3:`);
    expect(text).toContain(`${files.path('safety.yaml')}:4:`);
  });

  it('does not start without a policy, or with one that is too large', async () => {
    expect(await refusal(open({ policyPath: files.path('none.yaml') }))).toContain('cannot be read');
    expect(await refusal(open({ policyMaxBytes: 10 }))).toContain('more than the 10');
  });

  it('a changed policy takes effect; the history keeps both', async () => {
    const kernel = await open();
    const [before] = await kernel.listSnapshots();

    files.policy(allowing('second'));
    await eventually(async () => expect((await kernel.check(job())).rule_id).toBe('second'));

    const snapshots = await kernel.listSnapshots();
    expect(snapshots).toEqual([(await kernel.check(job())).policy_snapshot, before]);
    await eventually(async () => expect(await redis.lrange('svc:safety:snapshots', 0, -1)).toEqual(snapshots));
  });

  it('an invalid change leaves the last valid policy in effect and is reported', async () => {
    const reports: unknown[] = [];
    const kernel = await open({}, { onReload: (report) => reports.push(report) });

    files.policy('rules: [');
    await eventually(() => expect(reports.at(-1)).toMatchObject({ kind: 'refused', what: 'policy' }));
    const during = await kernel.check(job());
    files.policy(allowing('third'));

    expect(during.rule_id).toBe('first');
    await eventually(async () => expect((await kernel.check(job())).rule_id).toBe('third'));
  });

  it('keeps the ten newest snapshots, the one in effect first, also after a restart with an older policy', async () => {
    const kernel = await open();
    for (let i = 0; i < 11; i++) {
      files.policy(allowing(`rule-${i}`));
      await eventually(async () => expect((await kernel.check(job())).rule_id).toBe(`rule-${i}`));
    }
    const [newest, , , fourth] = await kernel.listSnapshots();
    files.policy(allowing('rule-7'));
    const later = await open();

    const snapshots = await later.listSnapshots();

    expect(snapshots).toHaveLength(10);
    expect(snapshots.slice(0, 2)).toEqual([fourth, newest]);
  });

  describe('signatures', () => {
    const key = signer();
    const policy = allowing('signed');
    const required = (publicKey: string, more = {}) => ({ signature: { required: true, publicKey, ...more } });

    it('starts with a valid one: next to the file, in a configured file, or in a variable', async () => {
      files.policy(policy);
      files.write('safety.yaml.sig', key.sign(policy).toString('base64'));
      await open(required(key.raw));
      files.write('safety.yaml.sig', 'x');
      files.write('other.sig', key.sign(policy).toString('hex'));
      await open(required(key.spki, { signaturePath: files.path('other.sig') }));

      const kernel = await open(required(key.spki, { signature: key.sign(policy).toString('base64') }));

      expect((await kernel.check(job())).rule_id).toBe('signed');
    });

    it('does not start without one, or with one of another key or file', async () => {
      files.policy(policy);

      expect(await refusal(open(required(key.raw)))).toContain('.sig does not exist');
      files.write('safety.yaml.sig', signer().sign(policy));
      expect(await refusal(open(required(key.raw)))).toContain('does not match the file');
      files.write('safety.yaml.sig', key.sign(`${policy} `));
      expect(await refusal(open(required(key.raw)))).toContain('does not match the file');
      expect(await refusal(open({ signature: { required: true } }))).toContain('SAFETY_POLICY_PUBLIC_KEY');
    });

    it('an unsigned change leaves the signed policy in effect', async () => {
      files.policy(policy);
      files.write('safety.yaml.sig', key.sign(policy));
      const reports: unknown[] = [];
      const kernel = await open(required(key.raw), { onReload: (report) => reports.push(report) });

      files.policy(allowing('smuggled'));
      await eventually(() => expect(reports.at(-1)).toMatchObject({ kind: 'refused' }));

      expect((await kernel.check(job())).rule_id).toBe('signed');
    });
  });

  describe('velocity', () => {
    const paced = `rules:
  - {id: pace, decision: throttle, throttle_duration: 5s, velocity: {max_requests: 2, window_seconds: 60, key: tenant}}
  - {id: ok, decision: allow}
`;

    it('evaluate and check together count a job once; explain and simulate count nothing', async () => {
      files.policy(paced);
      const kernel = await open();
      const rules = async (asked: Promise<{ rule_id: string }>) => (await asked).rule_id;

      expect(await rules(kernel.evaluate(job({ job_id: '1' })))).toBe('ok');
      expect(await rules(kernel.check(job({ job_id: '1' })))).toBe('ok');
      expect(await rules(kernel.evaluate(job({ job_id: '2' })))).toBe('ok');
      for (let i = 0; i < 5; i++) await kernel.simulate(job({ job_id: 'x' }));

      expect((await kernel.explain(job({ job_id: '3' }))).decision).toBe('THROTTLE');
      expect(await rules(kernel.check(job({ job_id: '2' })))).toBe('ok');
      expect(await kernel.evaluate(job({ job_id: '3' }))).toMatchObject({
        decision: 'THROTTLE',
        throttle_duration_ms: 5_000,
      });
    });

    it('while Redis is unavailable, requires approval or skips the rule, as configured', async () => {
      files.policy(paced);
      const [closed, lenient] = [await open(), await open({ velocityFailMode: 'open' })];
      await server.kill();

      const decisions = await Promise.all([closed.check(job()), lenient.check(job())]);
      await server.start();

      expect(decisions.map(({ decision }) => decision)).toEqual(['REQUIRE_APPROVAL', 'ALLOW']);
    });
  });

  describe('scanners', () => {
    const badge = (name: string) => `version: v1
scanners:
  secret:
    finding_type: secret_leak
    patterns: [{name: ${name}, regex: '${name}-[0-9]{4}', severity: critical, confidence: high}]
`;
    const withOutputRule = allowing(
      'a',
      'output_policy: {enabled: true, fail_mode: closed}\noutput_rules: [{id: keys, decision: quarantine, match: {scanners: [secret]}}]\n',
    );
    const checked = async (kernel: Kernel, text: string) => {
      const output = { job_id: 'j', topic: 'job.a', tenant: 'acme', labels: {}, result_ptr: '', artifact_ptrs: [], error_message: '', error_code: '', worker_id: '', execution_ms: 0, output_size_bytes: text.length, capabilities: [], risk_tags: [], principal_id: '', pack_id: '', output_content: Buffer.from(text) }; // prettier-ignore
      const { decision, findings } = await kernel.checkOutput(output);
      return [decision, ...findings.map((finding) => finding.matched_pattern)];
    };

    it('those of the file are in effect and follow its changes; an invalid change is ignored', async () => {
      files.policy(withOutputRule);
      files.scanners(badge('dock'));
      const reports: unknown[] = [];
      const kernel = await open({}, { onReload: (report) => reports.push(report) });
      expect(await checked(kernel, 'a dock-1234')).toEqual(['QUARANTINE', 'dock']);

      files.scanners(badge('pier'));
      await eventually(async () => expect(await checked(kernel, 'a pier-1234')).toEqual(['QUARANTINE', 'pier']));
      expect(await checked(kernel, 'a dock-1234')).toEqual(['ALLOW']);

      files.scanners('scanners: 7');
      await eventually(() => expect(reports.at(-1)).toMatchObject({ kind: 'refused', what: 'scanners' }));
      expect(await checked(kernel, 'a pier-1234')).toEqual(['QUARANTINE', 'pier']);
    });

    it('an invalid file is reported with its line, and the built-in ones are in effect', async () => {
      files.policy(withOutputRule);
      files.scanners('version: v1\nscanners: {secret: {finding_type: secret_leak, patterns: [{name: a}]}}\n');
      const { log, lines } = listeningLog();

      const kernel = await open({}, { log });

      expect(lines.join('')).toContain('scanners.yaml:2:');
      expect(await checked(kernel, 'key AKIAIOSFODNN7EXAMPLE here')).toMatchObject(['QUARANTINE', expect.any(String)]);
    });
  });

  describe('while Redis is unavailable', () => {
    beforeEach(() => server.kill());
    afterEach(async () => {
      await server.start();
      await eventually(() => redis.ping());
    });

    it('decides with the loaded policy, or with the file alone when bundles are disabled', async () => {
      await server.start();
      await eventually(() => redis.ping());
      const had = await open();
      await server.kill();
      const { bundles } = files.settings();
      const alone = await open({ bundles: { ...bundles, disabled: true } });

      for (const kernel of [had, alone]) {
        expect((await kernel.check(job())).decision).toBe('ALLOW');
        expect(await kernel.listSnapshots()).toHaveLength(1);
      }
    });

    it('stores the policy in effect when Redis is available again', async () => {
      await server.start();
      await eventually(() => redis.ping());
      const { bundles } = files.settings();
      const kernel = await open({ bundles: { ...bundles, disabled: true } });
      await server.kill();

      files.policy(allowing('changed'));
      await eventually(async () => expect((await kernel.check(job())).rule_id).toBe('changed'));
      await server.start();

      const [snapshot] = await kernel.listSnapshots();
      await eventually(async () => expect(await redis.get('{s0}:policy-in-effect')).toBe(snapshot));
    });

    it('does not start without the bundles, which may deny what the file allows', async () => {
      expect(await refusal(open())).toContain('cannot read the bundles');
    });
  });

  it('close stops watching the files', async () => {
    const reports: unknown[] = [];
    const kernel = await open({}, { onReload: (report) => reports.push(report) });
    await kernel.close();
    const other = await open();

    files.policy(allowing('late'));
    await eventually(async () => expect((await other.check(job())).rule_id).toBe('late'));

    expect(kernel.ready()).toMatchObject({ ok: false });
    expect(reports).toHaveLength(1);
  });
});
