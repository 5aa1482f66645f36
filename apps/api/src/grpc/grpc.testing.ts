import { Client, credentials, Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { grpcServices } from '@svc/contract';
import { serviceDefinition } from '@svc/grpc';
import { apiEnv, Health, readEnv, silentLogger, systemClock } from '@svc/runtime';
import type { useApi } from '../api.testing';
import { identities, type Who } from '../identities.testing';
import { startGrpcServer } from './server';

type Answer = Record<string, unknown>;
interface GrpcAnswer {
  /** Name of the gRPC status. */
  code: string;
  answer?: Answer;
  error?: ServiceError;
}

export type GrpcTestClient = Awaited<ReturnType<typeof openGrpc>>;

/** Serves gRPC with the context of a gateway under test, and calls it. */
export async function openGrpc(api: Pick<ReturnType<typeof useApi>, 'ctx' | 'options'>) {
  const env = readEnv(apiEnv, { GATEWAY_GRPC_ADDR: '127.0.0.1:0' }).values;
  const clock = systemClock();
  const boot = { env, log: silentLogger, health: new Health({ clock }), clock };
  const server = await startGrpcServer(boot, api.ctx, api.options);
  const client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
  return {
    ask: (name: string, request: object, who?: Who, more?: Record<string, string>) =>
      new Promise<GrpcAnswer>((resolve) => {
        const { path, requestSerialize, read } = findMethod(name);
        client.makeUnaryRequest<object, Answer>(
          path,
          requestSerialize,
          read,
          request,
          identity(who, more),
          (error, answer) =>
            resolve({ code: status[error?.code ?? 0] ?? '', ...(answer && { answer }), ...(error && { error }) }),
        );
      }),
    watch(id: string, who: Who) {
      const { path, requestSerialize, read } = findMethod('WatchJob');
      const events: Answer[] = [];
      const call = client.makeServerStreamRequest<object, Answer>(
        path,
        requestSerialize,
        read,
        { job_id: id },
        identity(who),
      );
      const ended = new Promise<string>((resolve) => {
        call.on('data', (event: Answer) => events.push(event));
        call.on('end', () => resolve('OK'));
        call.on('error', (error: ServiceError) => resolve(status[error.code] ?? ''));
      });
      return { events, ended };
    },
    async close() {
      client.close();
      await server.close();
    },
  };
}

/** The error code of a refused call, as REST would return it. */
export const getCode = ({ error }: Pick<GrpcAnswer, 'error'>) => error?.metadata.get('svc-error-code')[0];

function identity(who: Who | undefined, more: Record<string, string> = {}): Metadata {
  const metadata = new Metadata();
  if (who) metadata.set('x-api-key', identities[who].key);
  for (const [name, value] of Object.entries(more)) metadata.set(name, value);
  return metadata;
}

function findMethod(name: string) {
  const found = serviceDefinition(grpcServices.gateway)[name];
  if (!found) throw new Error(`no method ${name}`);
  return { ...found, read: found.responseDeserialize as (bytes: Buffer) => Answer };
}
