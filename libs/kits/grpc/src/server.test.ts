import { Client, credentials, Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { AppError, grpcServices } from '@svc/contract';
import { Health, systemClock } from '@svc/runtime';
import { service as healthService } from 'grpc-health-check';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { eventually, selfSigned } from '@svc/testing';
import { serviceDefinition } from './definitions';
import { stream, unary, type GrpcCall, type Method } from './method';
import { startGrpcServer, type GrpcServer, type GrpcServerSettings } from './server';

const name = grpcServices.gateway;
const path = (method: string) => serviceDefinition(name)[method]?.path ?? '';

interface Question {
  job_id: string;
}
type Handlers = Partial<Record<'SubmitJob' | 'GetJobStatus' | 'WatchJob', Method>>;

describe('the gRPC server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'grpc-'));
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  const defects: unknown[] = [];
  let server: GrpcServer | undefined;
  let client: Client | undefined;
  let health: Health;

  const start = async (handlers: Handlers = {}, over: Partial<GrpcServerSettings> = {}) => {
    const notFound = unary(() => Promise.reject(new AppError('not_found')));
    const methods = { SubmitJob: notFound, GetJobStatus: notFound, WatchJob: stream(async function* () { yield {}; }), ...handlers }; // prettier-ignore
    health = new Health({ clock: { nowMs: () => 0 } });
    server = await startGrpcServer(
      {
        address: { host: '127.0.0.1', port: 0 },
        connections: { keepaliveTimeMs: 30_000, keepaliveTimeoutMs: 10_000, maxConnectionAgeMs: 60_000, maxConnectionAgeGraceMs: 1_000 },
        reflection: false,
        services: { [name]: methods },
        ...over,
      },
      {
        health,
        clock: systemClock(),
        asAppError: (error) => (String(error).includes('ECONNREFUSED') ? new AppError('store_unavailable') : undefined),
        onDefect: (error) => void defects.push(error),
        onTlsError: () => undefined,
      },
    ); // prettier-ignore
    client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
    return server;
  };
  const ask = (request: object, deadlineMs = 10_000, by = client, method = 'GetJobStatus') =>
    new Promise<{ answer?: Record<string, unknown>; error?: ServiceError }>((resolve) => {
      const { requestSerialize, responseDeserialize } = serviceDefinition(name)[method] ?? never();
      by?.makeUnaryRequest<object, Record<string, unknown>>(
        path(method),
        requestSerialize,
        responseDeserialize as (bytes: Buffer) => Record<string, unknown>,
        request,
        new Metadata(),
        { deadline: Date.now() + deadlineMs },
        (error, answer) => resolve({ ...(answer && { answer }), ...(error && { error }) }),
      );
    });
  const watch = (request: object) => {
    const { requestSerialize, responseDeserialize } = serviceDefinition(name)['WatchJob'] ?? never();
    return (client ?? never()).makeServerStreamRequest<object, Record<string, unknown>>(
      path('WatchJob'),
      requestSerialize,
      responseDeserialize as (bytes: Buffer) => Record<string, unknown>,
      request,
    );
  };
  const servingStatus = (service: string) =>
    new Promise((resolve) => {
      const { requestSerialize, responseDeserialize, path: at } = healthService['Check'] ?? never();
      client?.makeUnaryRequest(at, requestSerialize, responseDeserialize, { service }, (error, answer) =>
        resolve(error ? error.code : (answer as { status: string }).status),
      );
    });

  beforeEach(() => void (defects.length = 0));
  afterEach(async () => {
    client?.close();
    await server?.close(0);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('passes metadata to the handler', async () => {
    const echo = unary<Question, object>(async ({ job_id }, { metadata, peer }: GrpcCall) => ({
      job_id,
      status: metadata('user-agent')?.split('/')[0],
      result_ptr: peer.split(':')[0],
    }));
    await start({ GetJobStatus: echo });

    expect((await ask({ job_id: 'j1' })).answer).toEqual({
      job_id: 'j1',
      status: 'grpc-node-js',
      result_ptr: '127.0.0.1',
    });
  });

  it.each([
    ['job_not_found', 'NOT_FOUND'],
    ['unauthorized', 'UNAUTHENTICATED'],
    ['policy_denied', 'PERMISSION_DENIED'],
    ['invalid_body', 'INVALID_ARGUMENT'],
    ['token_scope_exceeded', 'INVALID_ARGUMENT'],
    ['policy_throttled', 'RESOURCE_EXHAUSTED'],
    ['backpressure', 'RESOURCE_EXHAUSTED'],
    ['idempotency_conflict', 'ALREADY_EXISTS'],
    ['safety_unavailable', 'UNAVAILABLE'],
    ['internal_error', 'INTERNAL'],
  ] as const)('%s maps to %s, with the error code', async (code, expected) => {
    await start({ GetJobStatus: unary(() => Promise.reject(new AppError(code, {}, { 'Retry-After': '5' }))) });

    const { error } = await ask({});

    expect(status[error?.code ?? 0]).toBe(expected);
    expect(error?.metadata.get('svc-error-code')).toEqual([new AppError(code).toBody().code]);
    expect(error?.metadata.get('retry-after')).toEqual(['5']);
    expect(defects).toEqual([]);
  });

  it('a defect returns INTERNAL without detail, and is reported', async () => {
    await start({ GetJobStatus: unary(() => Promise.reject(new Error('password=hunter2'))) });

    const { error } = await ask({});

    expect(error).toMatchObject({ code: status.INTERNAL, details: 'internal error' });
    expect(String(defects[0])).toContain('hunter2');
  });

  it('an unavailable dependency returns UNAVAILABLE and is not a defect', async () => {
    await start({ GetJobStatus: unary(() => Promise.reject(new Error('connect ECONNREFUSED'))) });

    expect((await ask({})).error?.code).toBe(status.UNAVAILABLE);
    expect(defects).toEqual([]);
  });

  it('a call over the time limit is ended, and its handler is aborted', async () => {
    let isAborted = false;
    const slow = unary<Question, object>((_request, { signal }) => {
      signal.addEventListener('abort', () => (isAborted = true));
      return new Promise(() => undefined);
    });
    await start({ GetJobStatus: slow }, { callLimitMs: 20 });

    expect((await ask({})).error?.code).toBe(status.DEADLINE_EXCEEDED);
    await eventually(() => isAborted);
  });

  it('a handler is aborted when its caller disconnects, and not after its response', async () => {
    const aborted: string[] = [];
    const waiting = unary<Question, object>(({ job_id: id }, { signal }) => {
      signal.addEventListener('abort', () => aborted.push(id));
      return id === 'answered' ? Promise.resolve({}) : new Promise(() => undefined);
    });
    await start({ GetJobStatus: waiting });

    expect((await ask({ job_id: 'answered' })).error).toBeUndefined();
    expect((await ask({ job_id: 'left' }, 50)).error?.code).toBe(status.DEADLINE_EXCEEDED);
    await eventually(() => aborted.length > 0);
    expect(aborted).toEqual(['left']);
  });

  it('a message over 4 MiB is rejected', async () => {
    await start();

    expect((await ask({ job_id: 'x'.repeat(4 * 1_024 * 1_024) })).error?.code).toBe(status.RESOURCE_EXHAUSTED);
  });

  it('streams messages in order; an AppError in the middle is the status', async () => {
    await start({
      WatchJob: stream<Question, object>(async function* ({ job_id }) {
        yield { job_id, status: 'PENDING' };
        yield { job_id, status: 'RUNNING' };
        if (job_id === 'bad') throw new AppError('job_not_found');
      }),
    });
    const all = async (id: string) => {
      const seen: unknown[] = [];
      const code = await new Promise((resolve) =>
        watch({ job_id: id })
          .on('data', (event: { status: string }) => seen.push(event.status))
          .on('error', (error: ServiceError) => resolve(error.code))
          .on('end', () => resolve(0)),
      );
      return { seen, code };
    };

    expect(await all('good')).toEqual({ seen: ['PENDING', 'RUNNING'], code: 0 });
    expect(await all('bad')).toMatchObject({ code: status.NOT_FOUND });
  });

  it('a stream ends when its reader disconnects', async () => {
    let ended = false;
    await start({
      WatchJob: stream<Question, object>(async function* ({ job_id }, { signal }) {
        yield { job_id };
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        ended = true;
      }),
    });
    const call = watch({ job_id: 'j' }).on('error', () => undefined);
    await new Promise((resolve) => call.once('data', resolve));

    call.cancel();

    await eventually(() => ended);
  });

  it('health: NOT_SERVING until started and while draining, SERVING between, for the server and the service', async () => {
    await start();
    expect([await servingStatus(''), await servingStatus(name)]).toEqual(['NOT_SERVING', 'NOT_SERVING']);

    health.started();
    await eventually(async () => expect(await servingStatus(name)).toBe('SERVING'));
    expect(await servingStatus('')).toBe('SERVING');
    expect(await servingStatus('unknown.Service')).toBe(status.NOT_FOUND);

    health.drain();
    await eventually(async () => expect(await servingStatus('')).toBe('NOT_SERVING'));
  });

  it('reflection is enabled only on request', async () => {
    const reflect = async () => {
      const call = (client ?? never()).makeBidiStreamRequest(
        '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes,
      );
      const outcome = new Promise<string | number>((resolve) => {
        call.on('data', (bytes: Buffer) => resolve(bytes.toString('latin1')));
        call.on('error', (error: ServiceError) => resolve(error.code));
      });
      call.write(Buffer.from([0x3a, 0x00])); // list_services
      const answer = await outcome;
      call.end();
      return answer;
    };

    await start();
    expect(await reflect()).toBe(status.UNIMPLEMENTED);
    client?.close();
    await server?.close(0);
    await start({}, { reflection: true });
    expect(await reflect()).toContain(name);
  });

  it('draining finishes calls, ends streams, and rejects new calls', async () => {
    let finish: (answer: object) => void = () => undefined;
    await start({
      GetJobStatus: unary<Question, object>(() => new Promise((resolve) => (finish = resolve))),
      WatchJob: stream<Question, object>(async function* ({ job_id }, { signal }) {
        yield { job_id };
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      }),
    });
    const watching = watch({ job_id: 'j' });
    const ended = new Promise((resolve) => watching.on('error', (error: ServiceError) => resolve(error.code)));
    await new Promise((resolve) => watching.once('data', resolve));
    const asked = ask({ job_id: 'j' });
    await eventually(() => finish.length === 1);

    const closed = server?.close(60_000);
    expect(await ended).toBe(status.UNAVAILABLE);
    finish({ job_id: 'done' });

    expect((await asked).answer).toMatchObject({ job_id: 'done' });
    await closed;
    expect((await ask({})).error?.code).toBe(status.UNAVAILABLE);
  });

  it('draining ends calls that exceed the timeout', async () => {
    let asked = false;
    await start({ GetJobStatus: unary(() => ((asked = true), new Promise<object>(() => undefined))) });
    const answer = ask({});
    await eventually(() => asked);

    await server?.close(1);

    expect((await answer).error).toBeDefined();
  });

  it('a service with a missing or unknown method does not start', async () => {
    const services = { [name]: { SubmitJob: unary(async () => ({})), Extra: unary(async () => ({})) } };

    await expect(start({}, { services })).rejects.toThrow(
      'missing methods [GetJobStatus,WatchJob], unknown methods [Extra]',
    );
    server = undefined;
  });

  it('an address in use is an error', async () => {
    const first = await start();
    client?.close();

    await expect(start({}, { address: { host: '127.0.0.1', port: first.port } })).rejects.toThrow(/EADDRINUSE/);
    await first.close(0);
    server = undefined;
  });

  describe('TLS', () => {
    const secure = async (
      trusts: string,
      minVersion: 'TLSv1.2' | 'TLSv1.3' = 'TLSv1.3',
      own?: { cert: string; key: string },
    ) => {
      const context = createSecureContext({ ca: trusts, minVersion, maxVersion: minVersion, ...own });
      const by = new Client(`127.0.0.1:${server?.port}`, credentials.createFromSecureContext(context), {
        'grpc.ssl_target_name_override': 'localhost',
      });
      const outcome = await ask({}, 5_000, by);
      by.close();
      return outcome.error?.code;
    };
    const write = (certificate: { cert: string; key: string }) => {
      writeFileSync(files.cert, certificate.cert);
      writeFileSync(files.key, certificate.key);
    };

    it('serves clients that trust its certificate, at the minimum version or above', async () => {
      const certificate = selfSigned('localhost');
      write(certificate);
      await start({}, { tls: { files, minVersion: '1.3' } });

      expect(await secure(certificate.cert)).toBe(status.NOT_FOUND);
      expect(await secure(selfSigned('localhost').cert)).toBe(status.UNAVAILABLE);
      expect(await secure(certificate.cert, 'TLSv1.2')).toBe(status.UNAVAILABLE);
    });

    it('rejects plaintext', async () => {
      write(selfSigned('localhost'));
      await start({}, { tls: { files, minVersion: '1.2' } });

      expect((await ask({}, 2_000)).error?.code).toBe(status.UNAVAILABLE);
    });

    it('with a CA, requires client certificates issued by it', async () => {
      const [own, clients] = [selfSigned('localhost'), selfSigned('client')];
      write(own);
      writeFileSync(join(folder, 'ca.pem'), clients.cert);
      await start({}, { tls: { files: { ...files, ca: join(folder, 'ca.pem') }, minVersion: '1.2' } });

      expect(await secure(own.cert, 'TLSv1.3', clients)).toBe(status.NOT_FOUND);
      expect(await secure(own.cert, 'TLSv1.3')).toBe(status.UNAVAILABLE);
      expect(await secure(own.cert, 'TLSv1.3', selfSigned('client'))).toBe(status.UNAVAILABLE);
    });

    it('reports an invalid file', async () => {
      writeFileSync(files.cert, 'no certificate');

      await expect(start({}, { tls: { files, minVersion: '1.2' } })).rejects.toMatchObject({ where: files.cert });
      server = undefined;
    });
  });
});

function never(): never {
  throw new Error('the contract lacks a method');
}
