import { AppError, grpcServices } from '@svc/contract';
import { startGrpcServer, type GrpcServer, type GrpcServerSettings } from '@svc/grpc';
import { openRemoteKernel, type Kernel, type OutputCheckRequest } from '@svc/kernel-client';
import type { PolicyRequest } from '@svc/policy';
import { Health, silentLogger, systemClock } from '@svc/runtime';
import { eventually, selfSigned, startRedis, type TestServer } from '@svc/testing';
import { Redis } from 'ioredis';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kernelBatchService } from './kernel-batch-service';
import { kernelService } from './kernel-service';
import { startKernel } from './kernel.testing';
import { outputService } from './output-service';

const policy = `version: '1'
rules:
  - {id: held, match: {topics: [job.held]}, decision: require_approval, reason: ask}
  - {id: slow, match: {topics: [job.slow]}, decision: throttle, throttle_duration: 7s}
  - {id: paced, match: {topics: [job.paced]}, decision: deny, velocity: {max_requests: 1, window_seconds: 60, key: topic}}
  - {id: banned, match: {topics: [job.banned]}, decision: deny, remediations: [{id: r, title: t, add_labels: {a: b}}]}
  - {id: server, match: {labels: {_zone: dock}}, decision: deny}
  - {id: big, match: {metadata: {amount_gt: 10}}, decision: deny}
  - id: boxed
    match: {topics: [job.boxed], capabilities: [lift], risk_tags: [physical]}
    decision: allow
    constraints: {budgets: {max_runtime_ms: 5000000000}, sandbox: {network_allowlist: [a]}, redact_patterns: [x]}
  - {id: ok, decision: allow}
output_policy: {enabled: true, fail_mode: closed}
output_rules:
  - {id: large, match: {output_size_gt: 1000}, decision: deny, reason: large}
  - {id: keys, match: {topics: [job.scanned], content_patterns: ["KEY-[0-9]+"]}, decision: redact}
`;
const job = (over: Partial<PolicyRequest> = {}): PolicyRequest => ({
  topic: 'job.a',
  tenant: 'acme',
  job_id: 'j1',
  priority: 'critical',
  ...over,
});
const output = (over: Partial<OutputCheckRequest> = {}): OutputCheckRequest => ({
  job_id: 'j1', topic: 'job.scanned', tenant: 'acme', labels: { a: 'b' }, result_ptr: '', artifact_ptrs: [], error_message: '',
  error_code: '', worker_id: 'w', execution_ms: 3, output_size_bytes: 5, capabilities: [], risk_tags: [], principal_id: '',
  pack_id: '', ...over,
}); // prettier-ignore

describe('the kernel over gRPC', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kernel-app-'));
  const connections = { keepaliveTimeMs: 30_000, keepaliveTimeoutMs: 10_000, maxConnectionAgeMs: 60_000, maxConnectionAgeGraceMs: 1_000 }; // prettier-ignore
  let redisServer: TestServer;
  let redis: Redis;
  let local: Kernel;
  let remote: Kernel;
  let server: GrpcServer;
  let nowMs = 1_000_000;
  let broken = false;
  const trips: string[] = [];

  const serve = (port: number, tls?: GrpcServerSettings['tls']) => {
    const served = { ...bound(local), check: (request: PolicyRequest) => breakable(() => local.check(request)) };
    const inner = kernelService(served);
    return startGrpcServer(
      {
        address: { host: '127.0.0.1', port },
        connections,
        ...(tls && { tls }),
        reflection: false,
        services: { [grpcServices.kernel]: inner, [grpcServices.kernelBatch]: kernelBatchService(served), [grpcServices.output]: outputService(local) },
      },
      { health: new Health({ clock: { nowMs: () => 0 } }), clock: systemClock(), onDefect: () => undefined, onTlsError: () => undefined },
    ); // prettier-ignore
  };
  const breakable = <T>(ask: () => Promise<T>) =>
    broken ? Promise.reject(new AppError('service_unavailable')) : ask();

  beforeAll(async () => {
    redisServer = await startRedis();
    redis = new Redis(redisServer.url, { maxRetriesPerRequest: 1 });
    local = await startKernel(policy, folder, { redis });
  });
  beforeEach(async () => {
    await redis.flushall();
    broken = false;
    trips.length = 0;
    server = await serve(0);
    remote = await openRemoteKernel(
      {
        address: { host: '127.0.0.1', port: server.port },
        tls: undefined,
        keepaliveTimeMs: 30_000,
        keepaliveTimeoutMs: 10_000,
        limits: { policyMs: 2_000, metadataMs: 2_000, contentMs: 5_000 },
      },
      { redis, log: silentLogger, clock: { nowMs: () => nowMs }, onBreakerTrip: (breaker) => void trips.push(breaker) },
    );
  });
  afterEach(async () => {
    await remote.close();
    await server.close(0);
  });
  afterAll(async () => {
    await local.close();
    await redis.quit();
    await redisServer.stop();
    rmSync(folder, { recursive: true });
  });

  it('reports an opening breaker once', async () => {
    broken = true;

    for (let calls = 0; calls < 5; calls++) await expect(remote.check(job())).rejects.toThrow();

    expect(trips).toEqual(['input']);
  });

  it.each<[string, Partial<PolicyRequest>]>([
    ['allow', {}],
    ['deny with a way out', { topic: 'job.banned' }],
    ['approval', { topic: 'job.held' }],
    ['throttle', { topic: 'job.slow' }],
    ['constraints', { topic: 'job.boxed', meta: { capability: 'lift', risk_tags: ['physical'], actor_type: 'human' } }],
    ['labels only the server sets', { server_labels: { _zone: 'dock' } }],
    ['labels of the caller', { labels: { zone: 'dock' } }],
    ['content', { input_content: '{"amount": 11}', input_content_type: 'application/json' }],
    ['configuration', { effective_config: { safety: { denied_topics: ['job.a'] } } }],
    ['a topic that is none', { topic: 'other' }],
  ])('decides as in-process evaluation does: %s', async (_what, over) => {
    const decision = await remote.evaluate(job(over));

    expect(decision).toEqual(await local.evaluate(job(over)));
    expect(await remote.explain(job(over))).toEqual(await local.explain(job(over)));
    expect(await remote.simulate(job(over))).toEqual(decision);
  });

  it('simulates a candidate bundle and skipped parts as in-process evaluation does', async () => {
    const candidate = {
      id: 'secops/invariants',
      content: 'rules: [{id: tried, decision: deny, match: {topics: [job.a]}}]',
    };
    const tried = await remote.simulate(job({}), { candidate });

    expect(tried).toMatchObject({ decision: 'DENY', rule_id: 'tried' });
    expect(tried).toEqual(await local.simulate(job({}), { candidate }));
    const slow = job({ topic: 'job.slow' });
    expect((await remote.simulate(slow)).decision).toBe('THROTTLE');
    const without = ['velocity', 'content'] as const;
    expect(await remote.simulate(slow, { without })).toEqual(await local.simulate(slow, { without }));
    await expect(remote.simulate(job({}), { candidate: { id: 'x', content: 'rules: 7' } })).rejects.toThrow();
  });

  it('receives the prior permit of a job, and does not apply a velocity limit to it again', async () => {
    const paced = (id: string) => job({ topic: 'job.paced', job_id: id });
    const { policy_snapshot } = await remote.check(paced('first'));
    const prior_permit = { policy_snapshot, rule_id: 'ok' };

    expect((await remote.check(paced('second'))).decision).toBe('DENY');
    expect((await remote.check({ ...paced('second'), prior_permit })).decision).toBe('ALLOW');
  });

  it('returns the same snapshots', async () => {
    expect(await remote.listSnapshots()).toEqual(await local.listSnapshots());
  });

  it.each<[string, Partial<OutputCheckRequest>]>([
    ['metadata, the content still to be checked', {}],
    ['metadata, nothing to look for', { topic: 'job.other' }],
    ['metadata, too large', { output_size_bytes: 1_001 }],
    ['content, clean', { output_content: Buffer.from('clean') }],
    ['content, to be redacted', { output_content: Buffer.from('a KEY-12 b') }],
    ['content, found in the error text', { output_content: Buffer.from('a'), error_message: 'KEY-12' }],
  ])('checks outputs as in-process evaluation does: %s', async (_what, over) => {
    expect(await remote.checkOutput(output(over))).toEqual(await local.checkOutput(output(over)));
  });

  it('the breaker opens while the kernel is unavailable, and closes after it recovers', async () => {
    const states: string[] = [];
    const note = async () => states.push((await remote.breakers()).input.state);
    await remote.check(job());
    const { port } = server;
    await server.close(0);

    for (let i = 0; i < 3; i++) await expect(remote.check(job())).rejects.toThrow('did not respond');
    await note();
    await expect(remote.check(job())).rejects.toThrow('circuit breaker');
    expect(remote.ready()).toMatchObject({ ok: false });
    expect((await remote.breakers()).input).toEqual({
      state: 'open',
      failures: 3,
      fail_threshold: 3,
      cooldown_remaining_ms: 30_000,
    });
    expect((await remote.breakers()).output.state).toBe('closed');

    server = await serve(port);
    await expect(remote.check(job())).rejects.toThrow('circuit breaker');
    nowMs += 30_000;
    await eventually(async () => {
      nowMs += 30_000; // a probe before the connection is re-established opens it again
      expect((await remote.check(job())).decision).toBe('ALLOW');
    });
    await note();
    await remote.check(job());
    await note();

    expect(states).toEqual(['open', 'half_open', 'closed']);
    expect(remote.ready()).toEqual({ ok: true });
  });

  it('denials never open the breaker', async () => {
    for (let i = 0; i < 10; i++) await remote.check(job({ topic: 'job.banned' }));

    expect((await remote.breakers()).input).toMatchObject({ state: 'closed', failures: 0 });
  });

  it('errors of the kernel open the breaker of every process that shares the store', async () => {
    broken = true;
    for (let i = 0; i < 3; i++) await expect(remote.check(job())).rejects.toThrow();
    const other = await openRemoteKernel(
      { address: { host: '127.0.0.1', port: server.port }, tls: undefined, keepaliveTimeMs: 30_000, keepaliveTimeoutMs: 10_000 },
      { redis, log: silentLogger, clock: { nowMs: () => nowMs } },
    ); // prettier-ignore

    await expect(other.check(job())).rejects.toThrow('circuit breaker');
    await other.close();
  });

  describe('over TLS', () => {
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const own = selfSigned('localhost');
    const client = selfSigned('scheduler');

    it('is trusted by its authority only, and requires a client certificate if configured', async () => {
      const files = {
        cert: file('cert.pem', own.cert),
        key: file('key.pem', own.key),
        ca: file('clients.pem', client.cert),
      };
      const secure = await serve(0, { files, minVersion: '1.3' });
      const decided = async (tls: object) => {
        const address = { host: 'localhost', port: secure.port };
        const kernel = await openRemoteKernel(
          { address, tls: { minVersion: '1.3', ...tls }, keepaliveTimeMs: 30_000, keepaliveTimeoutMs: 10_000 },
          { redis, log: silentLogger, clock: { nowMs: () => nowMs } },
        );
        const outcome = await kernel.check(job()).then(({ decision }) => decision, (error: Error) => error.message); // prettier-ignore
        await kernel.close();
        return outcome;
      };
      const shown = { cert: file('client.pem', client.cert), key: file('client-key.pem', client.key) };

      expect(await decided({ ca: files.cert, ...shown })).toBe('ALLOW');
      expect(await decided({ ca: files.cert })).toContain('did not respond');
      expect(await decided({ ca: shown.cert, ...shown })).toContain('did not respond');
      await secure.close(0);
    });
  });
});

/** The methods of a kernel, bound to it. */
const bound = (kernel: Kernel): Kernel => ({
  check: (request) => kernel.check(request),
  evaluate: (request) => kernel.evaluate(request),
  explain: (request) => kernel.explain(request),
  simulate: (request, trial) => kernel.simulate(request, trial),
  listSnapshots: () => kernel.listSnapshots(),
  checkOutput: (request) => kernel.checkOutput(request),
  ready: () => kernel.ready(),
  breakers: () => kernel.breakers(),
  close: () => kernel.close(),
});
