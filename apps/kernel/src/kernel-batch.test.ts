import { Client, credentials, status, type ServiceError } from '@grpc/grpc-js';
import { AppError, grpcServices, limits } from '@svc/contract';
import { serviceDefinition, startGrpcServer, type GrpcServer } from '@svc/grpc';
import {
  checkRequestMessage,
  decisionMethods,
  toDecision,
  openRemoteKernel,
  policyCodec,
  type DecisionBatchResponseMessage,
  type DecisionMethod,
  type DecisionQuestionMessage,
  type Kernel,
} from '@svc/kernel-client';
import type { PolicyDecision, PolicyRequest } from '@svc/policy';
import { Health, kernelMetrics, openMetrics, silentLogger, systemClock } from '@svc/runtime';
import { fuzzed, startRedis, type TestServer } from '@svc/testing';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { mkdtempSync, rmSync } from 'node:fs';
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
  - {id: banned, match: {topics: [job.banned]}, decision: deny, remediations: [{id: r, title: t, add_labels: {a: b}}]}
  - {id: server, match: {labels: {_zone: dock}}, decision: deny}
  - {id: boxed, match: {topics: [job.boxed]}, decision: allow, constraints: {sandbox: {network_allowlist: [a]}}}
  - {id: ok, match: {topics: [job.a]}, decision: allow}
`;

describe('a batch of kernel requests', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kernel-batch-'));
  const codec = policyCodec();
  const opened = openMetrics(kernelMetrics, { pod: 'kernel' });
  const defects: string[] = [];
  let redisServer: TestServer;
  let redis: Redis;
  let local: Kernel;
  let server: GrpcServer;
  let client: Client;
  let checked: () => Promise<void> = () => Promise.resolve();

  beforeAll(async () => {
    redisServer = await startRedis();
    redis = new Redis(redisServer.url, { maxRetriesPerRequest: 1 });
    local = await startKernel(policy, folder, { redis, metrics: opened.metrics });
    const served: Kernel = Object.create(local, {
      check: { value: (request: PolicyRequest) => checked().then(() => local.check(request)) },
      simulate: { value: (...asked: Parameters<Kernel['simulate']>) => checked().then(() => local.simulate(...asked)) },
    });
    server = await startGrpcServer(
      {
        address: { host: '127.0.0.1', port: 0 },
        connections: { keepaliveTimeMs: 30_000, keepaliveTimeoutMs: 10_000, maxConnectionAgeMs: 60_000, maxConnectionAgeGraceMs: 1_000 },
        reflection: false,
        services: {
          [grpcServices.kernel]: kernelService(served),
          [grpcServices.kernelBatch]: kernelBatchService(served),
          [grpcServices.output]: outputService(served),
        },
      },
      {
        health: new Health({ clock: { nowMs: () => 0 } }),
        clock: systemClock(),
        onDefect: (error) => void defects.push(String(error)),
        onTlsError: () => undefined,
      },
    ); // prettier-ignore
    client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
  });
  beforeEach(async () => {
    await redis.flushall();
    checked = () => Promise.resolve();
    defects.length = 0;
  });
  afterAll(async () => {
    client.close();
    await server.close(0);
    await local.close();
    await redis.quit();
    await redisServer.stop();
    rmSync(folder, { recursive: true });
  });

  const call = <T>(service: keyof typeof grpcServices, name: string, request: object) =>
    new Promise<T>((resolve, reject) => {
      const method = serviceDefinition(grpcServices[service])[name];
      if (!method) throw new Error(`no method ${name}`);
      const read = method.responseDeserialize as (bytes: Buffer) => T;
      const done = (error: ServiceError | null, answer?: T) => (answer ? resolve(answer) : reject(error));
      client.makeUnaryRequest(method.path, method.requestSerialize, read, request, { deadline: Date.now() + 5_000 }, done); // prettier-ignore
    });
  const decide = async (questions: readonly DecisionQuestionMessage[]) =>
    (await call<DecisionBatchResponseMessage>('kernelBatch', 'Decide', { questions })).answers;
  const asking = (request: Partial<PolicyRequest>, method = 'Evaluate') => ({
    method,
    request: codec.encodeRequest(checkRequestMessage({ topic: 'job.a', tenant: 'acme', job_id: 'j', ...request })),
  });
  /** Decisions counted so far, by method. */
  const counted = async () => {
    const sums: Record<string, number> = {};
    const series = (await opened.text()).matchAll(/^svc_safety_evaluations_total\{method="(\w+)".* (\d+)$/gm);
    for (const [, method = '', count] of series) sums[method] = (sums[method] ?? 0) + Number(count);
    return sums;
  };

  it('random requests get the same decisions as single calls, in order', async () => {
    const text = fc.string({ maxLength: 12 });
    const topic = fc.constantFrom('job.a', 'job.held', 'job.slow', 'job.banned', 'job.boxed', 'job.none', 'other', '');
    const request: fc.Arbitrary<PolicyRequest> = fc.record(
      {
        topic,
        tenant: text,
        job_id: text,
        labels: fc.dictionary(text, text, { maxKeys: 3 }),
        server_labels: fc.constantFrom({ _zone: 'dock' }, { _zone: 'quay' }),
        input_content: fc.json(),
        effective_config: fc.constantFrom({ safety: { denied_topics: ['job.a'] } }, {}),
      },
      { requiredKeys: ['topic'] },
    );
    const question = fc.record({ request, method: fc.constantFrom(...decisionMethods) });

    await fc.assert(
      fc.asyncProperty(fc.array(question, { minLength: 1, maxLength: 8 }), async (questions) => {
        const together = await decide(questions.map(({ request: asked, method }) => ({
          method, request: codec.encodeRequest(checkRequestMessage(asked)),
        }))); // prettier-ignore
        const alone = await Promise.all(
          questions.map(({ request: asked, method }) => call<object>('kernel', method, checkRequestMessage(asked))),
        );
        expect(together.map(({ response }) => codec.decodeResponse(response))).toEqual(alone);
      }),
      fuzzed(30),
    );
  });

  it('counts each decision by method', async () => {
    const before = await counted();

    await decide([asking({}, 'Check'), asking({}, 'Check'), asking({}, 'Explain')]);

    const after = await counted();
    expect((after['check'] ?? 0) - (before['check'] ?? 0)).toBe(2);
    expect((after['explain'] ?? 0) - (before['explain'] ?? 0)).toBe(1);
  });

  it('a failing request fails alone, with the error of a single call', async () => {
    checked = () => Promise.reject(new AppError('service_unavailable'));
    const noJson = { ...checkRequestMessage({ topic: 'job.a' }), effective_config: Buffer.from('{') };

    const answers = await decide([
      asking({}),
      asking({}, 'Check'),
      { method: 'Evaluate', request: codec.encodeRequest(noJson) },
      { method: 'Evaluate', request: Buffer.from([0xff]) },
      asking({}, 'ListSnapshots'),
      asking({ topic: 'job.banned' }),
    ]);

    expect(answers.map(({ code, error_code }) => [status[code], error_code])).toEqual([
      ['OK', ''],
      ['UNAVAILABLE', 'service_unavailable'],
      ['INVALID_ARGUMENT', 'invalid_json'],
      ['INVALID_ARGUMENT', 'invalid_body'],
      ['UNIMPLEMENTED', 'method_not_allowed'],
      ['OK', ''],
    ]);
    expect(answers[2]?.details).toBe('effective_config and server_facts must be JSON');
    expect(answers.map(({ response }) => response.length > 0)).toEqual([true, false, false, false, false, true]);
    await expect(call('kernel', 'Evaluate', noJson)).rejects.toMatchObject({ code: answers[2]?.code, details: answers[2]?.details }); // prettier-ignore
    expect(defects).toEqual([]);
  });

  it('a defect is returned without detail, and reported', async () => {
    checked = () => Promise.reject(new Error('password=hunter2'));

    const answers = await decide([asking({}, 'Check'), asking({})]);

    expect(answers[0]).toMatchObject({ code: status.INTERNAL, details: 'internal error' });
    expect(answers[1]).toMatchObject({ code: status.OK });
    expect(defects).toEqual(['Error: password=hunter2']);
  });

  it('requests of a batch are decided concurrently', async () => {
    let waiting = 0;
    let release: () => void = () => undefined;
    const all = new Promise<void>((resolve) => (release = resolve));
    checked = () => {
      if (++waiting === 3) release();
      return all;
    };

    const answers = await decide([asking({}, 'Check'), asking({}, 'Check'), asking({}, 'Check')]);

    expect(answers.map(({ code }) => code)).toEqual([0, 0, 0]);
  });

  it.each([
    ['questions', Array.from({ length: limits.decisionBatch + 1 }, () => asking({}))],
    ['bytes', [asking({}), { method: 'Check', request: Buffer.alloc(limits.decisionBatchBytes) }]],
  ])('INVALID_ARGUMENT for too many %s, with a remedy; nothing is decided', async (_what, questions) => {
    const before = await counted();

    await expect(decide(questions)).rejects.toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: expect.stringMatching(
        /^a batch holds at most 32 questions and 1048576 bytes, this one \d+ and \d+: send/,
      ),
    });
    expect(await counted()).toEqual(before);
  });

  it('accepts a full batch and an empty batch', async () => {
    expect(await decide(Array.from({ length: limits.decisionBatch }, () => asking({})))).toHaveLength(limits.decisionBatch); // prettier-ignore
    expect(await decide([])).toEqual([]);
  });

  describe('through the kernel client', () => {
    let remote: Kernel;
    beforeEach(async () => {
      remote = await openRemoteKernel(
        { address: { host: '127.0.0.1', port: server.port }, tls: undefined, keepaliveTimeMs: 30_000, keepaliveTimeoutMs: 10_000 },
        { redis, log: silentLogger, clock: systemClock() },
      ); // prettier-ignore
    });
    afterEach(() => remote.close());

    it('decides a batch as in-process evaluation does', async () => {
      const topics = ['job.a', 'job.held', 'job.slow', 'job.banned', 'job.boxed', 'other'];
      const asked = topics.map((topic): PolicyRequest => ({ topic, tenant: 'acme', job_id: topic }));
      const by = (kernel: Kernel, method: 'check' | 'evaluate' | 'explain' | 'simulate'): Promise<PolicyDecision[]> =>
        Promise.all(asked.map((request) => kernel[method](request)));

      for (const method of ['check', 'evaluate', 'explain', 'simulate'] as const) {
        expect(await by(remote, method)).toEqual(await by(local, method));
      }
    });

    it('the breaker counts each request separately', async () => {
      checked = () => Promise.reject(new AppError('service_unavailable'));
      const failing = () => remote.check({ topic: 'job.a' });
      const settled = await Promise.allSettled([
        remote.evaluate({ topic: 'job.a' }),
        failing(),
        remote.evaluate({ topic: 'job.banned' }),
        failing(),
      ]);

      expect(settled.map((ended) => ended.status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected']);
      expect((await remote.breakers()).input).toMatchObject({ state: 'closed', failures: 2 });

      await Promise.allSettled([failing(), remote.evaluate({ topic: 'job.a' })]);
      expect((await remote.breakers()).input).toMatchObject({ state: 'open', failures: 3 });
    });

    it('failures of candidate texts do not count against the kernel', async () => {
      checked = () => Promise.reject(new AppError('service_unavailable'));
      const candidate = { id: 'secops/a', content: 'rules: []' };

      const settled = await Promise.allSettled(
        Array.from({ length: 8 }, () => remote.simulate({ topic: 'job.a' }, { candidate })),
      );

      expect(settled.map(({ status: ended }) => ended)).toEqual(Array.from({ length: 8 }, () => 'rejected'));
      expect((await remote.breakers()).input).toMatchObject({ state: 'closed', failures: 0 });
      await Promise.allSettled(Array.from({ length: 3 }, () => remote.simulate({ topic: 'job.a' })));
      expect((await remote.breakers()).input.state).toBe('open');
      await expect(remote.simulate({ topic: 'job.a' }, { candidate })).rejects.toThrow('circuit breaker');
    });

    it('invalid requests do not count against the kernel', async () => {
      checked = () => Promise.reject(new AppError('invalid_json'));

      await Promise.allSettled(Array.from({ length: 8 }, () => remote.check({ topic: 'job.a' })));

      expect((await remote.breakers()).input).toMatchObject({ state: 'closed', failures: 0 });
    });
  });

  it('a response is interpreted by its code', () => {
    const empty = codec.decodeResponse(Buffer.alloc(0));

    expect(toDecision(empty)).toBeUndefined();
  });

  it.each<DecisionMethod>([...decisionMethods])('%s is sent with the bytes of a single call', (method) => {
    const alone = serviceDefinition(grpcServices.kernel)[method]?.requestSerialize(checkRequestMessage({ topic: 'job.a' })); // prettier-ignore

    expect(codec.encodeRequest(checkRequestMessage({ topic: 'job.a' }))).toEqual(alone);
  });
});
