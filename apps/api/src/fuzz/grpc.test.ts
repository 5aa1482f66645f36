import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import { getJob, grpcServices, protoDescriptor, submitJob } from '@svc/contract';
import { apiEnv, Health, readEnv, silentLogger, systemClock } from '@svc/runtime';
import { fuzzed, fuzzTimeoutMs, hostileText, mutatedBytes, nested, protoMessage } from '@svc/testing';
import fc from 'fast-check';
import { Root } from 'protobufjs';
import { useApi } from '../api.testing';
import { startGrpcServer, type ApiGrpcServer } from '../grpc/server';
import { identities } from '../identities.testing';
import { documentedCodes } from './requests.testing';

jest.setTimeout(fuzzTimeoutMs());

const wire = Root.fromJSON(protoDescriptor);
wire.resolveAll();
/** Values that pass the first checks of a submission. */
const choices = {
  prompt: ['hello'],
  topic: ['job.demo.echo', 'job.default'],
  org_id: ['acme', ''],
  priority: ['batch'],
};
const ours = new Set<number>([
  status.INTERNAL,
  status.UNKNOWN,
  status.UNAVAILABLE,
  status.DATA_LOSS,
  status.DEADLINE_EXCEEDED,
]);

interface Answer {
  code: status;
  details: string;
  errorCode: string | undefined;
}

describe('arbitrary gRPC calls', () => {
  const api = useApi();
  let server: ApiGrpcServer;
  let client: Client;

  beforeAll(async () => {
    const env = readEnv(apiEnv, { GATEWAY_GRPC_ADDR: '127.0.0.1:0' }).values;
    const clock = systemClock();
    const boot = { env, log: silentLogger, health: new Health({ clock }), clock };
    // As for REST, a test that causes a defect fails.
    const log = { ...silentLogger, error: (message: string) => void api.defects.push(message) };
    server = await startGrpcServer({ ...boot, log }, api.ctx, api.options);
    client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
  });
  afterAll(async () => {
    client.close();
    await server.close();
  });

  /** Sends raw bytes, with any metadata that gRPC allows. */
  const ask = (method: string, bytes: Uint8Array, more: Readonly<Record<string, string>> = {}) =>
    new Promise<Answer>((resolve) => {
      const metadata = new Metadata();
      metadata.set('x-api-key', identities.boss.key);
      for (const [name, value] of Object.entries(more)) metadata.set(name, value);
      client.makeUnaryRequest<Uint8Array, Buffer>(
        `/${grpcServices.gateway}/${method}`,
        (sent) => Buffer.from(sent),
        (answer) => answer,
        bytes,
        metadata,
        (error) => {
          const [errorCode] = error?.metadata?.get('svc-error-code') ?? [];
          resolve({ code: error?.code ?? status.OK, details: error?.details ?? '', errorCode: errorCode?.toString() });
        },
      );
    });

  const methods = [
    ['SubmitJob', 'SubmitJobRequest', submitJob],
    ['GetJobStatus', 'GetJobStatusRequest', getJob],
  ] as const;
  const headers = fc.dictionary(
    fc.constantFrom('idempotency-key', 'x-tenant-id', 'x-principal-id', 'authorization', 'traceparent'),
    hostileText.map((text) => text.replace(/[^\x20-\x7e]/g, '')),
    { maxKeys: 1 },
  );

  it.each(methods)('%s responds or rejects with a documented code, for any message', async (method, type, endpoint) => {
    const message = wire.lookupType(`svc.v1.${type}`);
    const id = await api.given.job();
    const readable = protoMessage(message, { ...choices, job_id: [id] }).map((fields) =>
      message.encode(message.fromObject(fields)).finish(),
    );
    const codes = new Set([...documentedCodes(endpoint).values()].flat());

    await fc.assert(
      fc.asyncProperty(readable, fc.constantFrom({}, undefined), headers, async (bytes, none, some) => {
        const answer = await ask(method, bytes, none ?? some);

        expect(ours.has(answer.code)).toBe(false);
        if (answer.code === status.OK) return;
        expect([...codes]).toContain(answer.errorCode);
        expect(answer.details).not.toBe('');
      }),
      fuzzed(150),
    );
  });

  it.each(methods)('%s survives bytes that are not a message', async (method, type) => {
    const message = wire.lookupType(`svc.v1.${type}`);
    const readable = protoMessage(message, choices).map((fields) =>
      message.encode(message.fromObject(fields)).finish(),
    );
    const bytes = fc.oneof(mutatedBytes(readable), fc.uint8Array({ minLength: 1, maxLength: 100 }));

    await fc.assert(
      fc.asyncProperty(bytes, async (given) => {
        const answer = await ask(method, given);

        // The library reports undecodable messages as INTERNAL; our own code must never do so.
        if (ours.has(answer.code)) expect(answer.details).toMatch(/^Error deserializing request/);
      }),
      fuzzed(80),
    );
  });

  it.each([
    ['a prototype in its context', '{"__proto__":{"a":1}}'],
    ['deep nesting in its context', nested(5_000)],
    ['deep nesting that JSON still reads', nested(200)],
    ['half a surrogate pair in its context', '"\\ud800"'],
    ['a number beyond all', '1e999'],
  ])('a submission with %s is accepted or rejected', async (_what, context) => {
    const message = wire.lookupType('svc.v1.SubmitJobRequest');
    const sent = { prompt: 'x', topic: 'job.demo.echo', context: Buffer.from(context) };

    const { code } = await ask('SubmitJob', message.encode(message.fromObject(sent)).finish());

    expect([status.OK, status.INVALID_ARGUMENT]).toContain(code);
    const { items } = await api.store.index.page('acme', {}, 10);
    for (const { id } of items) expect((await api.as('boss').get(`/api/v1/jobs/${id}`)).status).toBe(200);
  });

  it('rejects a message over the size limit', async () => {
    const cap = 4 * 1_024 * 1_024;

    for (const size of [cap + 1, cap * 4]) {
      expect((await ask('GetJobStatus', new Uint8Array(size))).code).toBe(status.RESOURCE_EXHAUSTED);
    }
  });

  it('rejects a message over the size limit, even if it is compressed', async () => {
    const packing = { 'grpc.default_compression_algorithm': 2 } as const; // gzip
    const packer = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure(), packing);
    const metadata = new Metadata();
    metadata.set('x-api-key', identities.boss.key);

    const code = await new Promise((resolve) => {
      const path = `/${grpcServices.gateway}/GetJobStatus`;
      const asIs = (bytes: Buffer) => bytes;
      packer.makeUnaryRequest(path, asIs, asIs, Buffer.alloc(64 * 1_024 * 1_024), metadata, (error) =>
        resolve(error?.code),
      );
    });
    packer.close();

    expect(code).toBe(status.RESOURCE_EXHAUSTED);
  });

  it('rejects an unknown method', async () => {
    expect((await ask('DropEverything', new Uint8Array())).code).toBe(status.UNIMPLEMENTED);
  });
});
