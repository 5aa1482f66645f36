import { Client, credentials, status } from '@grpc/grpc-js';
import { grpcServices, protoDescriptor } from '@svc/contract';
import { startGrpcServer, type GrpcServer } from '@svc/grpc';
import type { Kernel } from '@svc/kernel-client';
import { Health, systemClock } from '@svc/runtime';
import { fuzzed, fuzzTimeoutMs, mutatedBytes, protoMessage, startRedis, type TestServer } from '@svc/testing';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Root } from 'protobufjs';
import { kernelBatchService } from './kernel-batch-service';
import { kernelService } from './kernel-service';
import { startKernel } from './kernel.testing';
import { outputService } from './output-service';

jest.setTimeout(fuzzTimeoutMs());

const policy = `version: '1'
rules:
  - {id: held, match: {topics: [job.held]}, decision: require_approval}
  - {id: big, match: {metadata: {amount_gt: 10}}, decision: deny}
  - {id: paced, match: {topics: [job.paced]}, decision: throttle, throttle_duration: 1s, velocity: {max_requests: 1, window_seconds: 60, key: 'tenant:labels.a'}}
  - {id: ok, decision: allow}
input_policy: {enabled: true, fail_mode: closed}
input_rules: [{id: keys, decision: deny, match: {scanners: [secret], keywords: [forbidden]}}]
output_policy: {enabled: true, fail_mode: closed}
output_rules: [{id: out, decision: redact, match: {scanners: [pii], content_patterns: ['(a+)+b']}}]
`;
/** Words that reach the rules. */
const choices = { topic: ['job.a', 'job.held', 'job.paced', ''], tenant: ['acme', ''] };
const wire = Root.fromJSON(protoDescriptor);
wire.resolveAll();
const methods = [grpcServices.kernel, grpcServices.kernelBatch, grpcServices.output].flatMap((service) =>
  wire
    .lookupService(service)
    .methodsArray.map(
      ({ name, resolvedRequestType }) => [`${service}/${name}`, resolvedRequestType?.fullName ?? ''] as const,
    ),
);

describe('arbitrary input to the kernel', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kernel-fuzz-'));
  const defects: unknown[] = [];
  let redisServer: TestServer;
  let redis: Redis;
  let kernel: Kernel;
  let server: GrpcServer;
  let client: Client;

  beforeAll(async () => {
    redisServer = await startRedis();
    redis = new Redis(redisServer.url, { maxRetriesPerRequest: 1 });
    kernel = await startKernel(policy, folder, { redis });
    server = await startGrpcServer(
      {
        address: { host: '127.0.0.1', port: 0 },
        connections: { keepaliveTimeMs: 30_000, keepaliveTimeoutMs: 10_000, maxConnectionAgeMs: 60_000, maxConnectionAgeGraceMs: 1_000 },
        reflection: false,
        services: {
          [grpcServices.kernel]: kernelService(kernel),
          [grpcServices.kernelBatch]: kernelBatchService(kernel),
          [grpcServices.output]: outputService(kernel),
        },
      },
      { health: new Health({ clock: { nowMs: () => 0 } }), clock: systemClock(), onDefect: (error) => void defects.push(error), onTlsError: () => undefined },
    ); // prettier-ignore
    client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
  });
  afterEach(async () => {
    expect(defects).toEqual([]);
    expect((await kernel.check({ topic: 'job.a', tenant: 'acme', job_id: 'j' })).rule_id).toBe('ok');
  });
  afterAll(async () => {
    client.close();
    await server.close(0);
    await kernel.close();
    redis.disconnect();
    await redisServer.stop();
    rmSync(folder, { recursive: true });
  });

  const ask = (method: string, bytes: Uint8Array) =>
    new Promise<{ code: status; details: string }>((resolve) => {
      client.makeUnaryRequest<Uint8Array, Buffer>(
        `/${method}`,
        (sent) => Buffer.from(sent),
        (answer) => answer,
        bytes,
        (error) => resolve({ code: error?.code ?? status.OK, details: error?.details ?? '' }),
      );
    });
  const messages = (type: string) => {
    const message = wire.lookupType(type);
    return protoMessage(message, choices).map((fields) => message.encode(message.fromObject(fields)).finish());
  };

  it.each(methods)('%s responds or rejects with a message, for any request message', async (method, type) => {
    await fc.assert(
      fc.asyncProperty(messages(type), async (bytes) => {
        const { code, details } = await ask(method, bytes);

        expect([status.OK, status.INVALID_ARGUMENT]).toContain(code);
        if (code !== status.OK) expect(details).not.toBe('');
      }),
      fuzzed(60),
    );
  });

  it.each(methods)('%s survives bytes that are not a message', async (method, type) => {
    const bytes = fc.oneof(mutatedBytes(messages(type)), fc.uint8Array({ minLength: 1, maxLength: 100 }));

    await fc.assert(
      fc.asyncProperty(bytes, async (given) => {
        const { code, details } = await ask(method, given);

        // The library reports undecodable messages as INTERNAL; our own code must never do so.
        if (code === status.INTERNAL) expect(details).toMatch(/^Error deserializing request/);
        else expect([status.OK, status.INVALID_ARGUMENT]).toContain(code);
      }),
      fuzzed(60),
    );
  });
});
