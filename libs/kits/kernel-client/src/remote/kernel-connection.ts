import { grpcServices } from '@svc/contract';
import { serviceDefinition } from '@svc/grpc';
import { formatAddress, tlsClientOptions, type Address } from '@svc/runtime';
import { Client, connectivityState, credentials, type ChannelCredentials, type ServiceError } from '@grpc/grpc-js';
import { createSecureContext } from 'node:tls';
import type { DecisionBatchRequestMessage, DecisionBatchResponseMessage, DecisionMethod } from '../wire/batch-messages';
import type { PolicyCheckRequestMessage, PolicyCheckResponseMessage } from '../wire/policy-messages';
import { DecisionBatches } from './decision-batches';

export interface ConnectionSettings {
  address: Address;
  /** Absent: plaintext. */
  tls: TlsClientSettings | undefined;
  keepaliveTimeMs: number;
  keepaliveTimeoutMs: number;
}

type TlsClientSettings = Parameters<typeof tlsClientOptions>[0];
type Service = 'kernel' | 'kernelBatch' | 'output';

const messageCapBytes = 4 * 1_024 * 1_024;
const MAX_BACKOFF_MS = 5_000;

/** One connection to the kernel, for all of its services. */
export class KernelConnection {
  private readonly batches: DecisionBatches;

  private constructor(
    private readonly client: Client,
    nowMs: () => number,
  ) {
    this.batches = new DecisionBatches(
      {
        one: (method, request, deadlineMs) =>
          this.send<Buffer, PolicyCheckResponseMessage>('kernel', method, request, deadlineMs, (encoded) => encoded),
        many: async (questions, deadlineMs) => {
          const request: DecisionBatchRequestMessage = { questions };
          const { answers } = await this.send<object, DecisionBatchResponseMessage>(
            'kernelBatch',
            'Decide',
            request,
            deadlineMs,
          );
          return answers;
        },
        onceDisconnected: (callback) => this.onceDisconnected(callback),
      },
      nowMs,
    );
  }

  /** Connects in the background. @throws StartError for an invalid TLS file */
  static async open(settings: ConnectionSettings, nowMs: () => number): Promise<KernelConnection> {
    const { address, tls, keepaliveTimeMs, keepaliveTimeoutMs } = settings;
    const client = new Client(
      formatAddress({ ...address, host: address.host || 'localhost' }),
      await buildCredentials(tls),
      {
        'grpc.keepalive_time_ms': keepaliveTimeMs,
        'grpc.keepalive_timeout_ms': keepaliveTimeoutMs,
        'grpc.keepalive_permit_without_calls': 1,
        'grpc.max_receive_message_length': messageCapBytes,
        'grpc.max_send_message_length': messageCapBytes,
        'grpc.initial_reconnect_backoff_ms': 100,
        'grpc.max_reconnect_backoff_ms': MAX_BACKOFF_MS,
        ...(tls?.serverName && { 'grpc.ssl_target_name_override': tls.serverName }),
      },
    );
    client.getChannel().getConnectivityState(true);
    return new KernelConnection(client, nowMs);
  }

  /** Requests a decision, batched with other requests of this turn. @throws ServiceError */
  decide(
    method: DecisionMethod,
    request: PolicyCheckRequestMessage,
    timeoutMs: number,
  ): Promise<PolicyCheckResponseMessage> {
    return this.batches.ask(method, request, timeoutMs);
  }

  /** @throws ServiceError */
  call<Request extends object, Response extends object>(
    service: Service,
    method: string,
    request: Request,
    timeoutMs: number,
  ): Promise<Response> {
    return this.send(service, method, request, Date.now() + timeoutMs);
  }

  /** False after a failed connection attempt. */
  get isReachable(): boolean {
    const state = this.client.getChannel().getConnectivityState(false);
    return state !== connectivityState.TRANSIENT_FAILURE && state !== connectivityState.SHUTDOWN;
  }

  close(): void {
    this.client.close();
  }

  private send<Request extends object, Response extends object>(
    service: Service,
    method: string,
    request: Request,
    deadlineMs: number,
    serialize?: (request: Request) => Buffer,
  ): Promise<Response> {
    const definition = serviceDefinition(grpcServices[service])[method];
    if (!definition) throw new Error(`${grpcServices[service]} has no method ${method}`);
    return new Promise((resolve, reject) => {
      this.client.makeUnaryRequest<Request, Response>(
        definition.path,
        serialize ?? definition.requestSerialize,
        definition.responseDeserialize as (bytes: Buffer) => Response, // the descriptor is the contract's
        request,
        { deadline: deadlineMs },
        (error: ServiceError | null, response?: Response) => (response ? resolve(response) : reject(error)),
      );
    });
  }

  private onceDisconnected(callback: () => void): void {
    const channel = this.client.getChannel();
    const state = channel.getConnectivityState(false);
    if (state === connectivityState.SHUTDOWN) return; // watching a closed channel throws
    channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, callback);
  }
}

async function buildCredentials(tls: TlsClientSettings | undefined): Promise<ChannelCredentials> {
  if (!tls) return credentials.createInsecure();
  const { rejectUnauthorized, servername: _, ...context } = await tlsClientOptions(tls);
  return credentials.createFromSecureContext(createSecureContext(context), {
    rejectUnauthorized: rejectUnauthorized !== false,
  });
}
