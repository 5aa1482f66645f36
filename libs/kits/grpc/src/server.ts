import { Server, ServerCredentials, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import type { AppError } from '@svc/contract';
import {
  formatAddress,
  loadTls,
  watchTls,
  type Address,
  type Clock,
  type Health,
  type TlsFiles,
  type TlsVersion,
} from '@svc/runtime';
import { packageDefinition, serviceDefinition } from './definitions';
import { addHealth } from './health-service';
import type { Method } from './method';
import { TlsCredentials } from './tls-credentials';

/** Keepalive and maximum age of connections. */
export interface ConnectionSettings {
  keepaliveTimeMs: number;
  keepaliveTimeoutMs: number;
  maxConnectionAgeMs: number;
  maxConnectionAgeGraceMs: number;
}

export interface GrpcServerSettings {
  /** Port 0 selects a free port. */
  address: Address;
  /** Absent: plaintext. With a `ca`, clients must present a certificate. */
  tls?: { files: TlsFiles; minVersion: TlsVersion };
  connections: ConnectionSettings;
  /** Enables server reflection. SVC_GRPC_REFLECTION. */
  reflection: boolean;
  /** Full names of services to their methods. */
  services: Readonly<Record<string, Readonly<Record<string, Method>>>>;
  /** Maximum duration of a unary call. */
  callLimitMs?: number;
}

export interface GrpcServerDeps {
  health: Health;
  clock: Pick<Clock, 'sleep'>;
  asAppError?(error: unknown): AppError | undefined;
  /** Called for any exception but an AppError. */
  onDefect(error: unknown, method: string): void;
  /** Called for changed certificate files that cannot be loaded; the old ones stay in use. */
  onTlsError(error: unknown): void;
}

export interface GrpcServer {
  port: number;
  /** Rejects new calls, ends streams, and lets unary calls finish within the timeout. */
  close(graceMs: number): Promise<void>;
}

const messageCapBytes = 4 * 1_024 * 1_024;
const DEFAULT_LIMIT_MS = 60_000;
const MAX_STREAMS = 1_000;

/**
 * Serves methods over gRPC with TLS, health, keepalive, a message cap of 4 MiB and, when asked for, reflection.
 * See docs/reference/http.md#grpc.
 *
 * @throws the system's error when it cannot listen, StartError for TLS files that cannot be used, and for a service with a
 *   missing or unknown method
 */
export async function startGrpcServer(settings: GrpcServerSettings, deps: GrpcServerDeps): Promise<GrpcServer> {
  const { connections, services } = settings;
  const server = new Server({
    'grpc.max_receive_message_length': messageCapBytes,
    'grpc.max_send_message_length': messageCapBytes,
    'grpc.max_concurrent_streams': MAX_STREAMS,
    'grpc.keepalive_time_ms': connections.keepaliveTimeMs,
    'grpc.keepalive_timeout_ms': connections.keepaliveTimeoutMs,
    'grpc.max_connection_age_ms': connections.maxConnectionAgeMs,
    'grpc.max_connection_age_grace_ms': connections.maxConnectionAgeGraceMs,
  });
  const stopping = new AbortController();
  for (const [name, methods] of Object.entries(services)) addService(server, name, methods);
  const endHealth = addHealth(server, deps.health, Object.keys(services));
  if (settings.reflection) {
    new ReflectionService(packageDefinition(), { services: Object.keys(services) }).addToServer(server);
  }
  const credentials = await credentialsFor(settings, deps, stopping.signal);
  const port = await listen(server, settings.address, credentials);

  return {
    port,
    async close(graceMs) {
      endHealth();
      stopping.abort();
      const timer = setTimeout(() => server.forceShutdown(), graceMs);
      await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      clearTimeout(timer);
    },
  };

  function addService(to: Server, name: string, methods: Readonly<Record<string, Method>>): void {
    const definition = serviceDefinition(name);
    const missing = Object.keys(definition).filter((method) => !Object.hasOwn(methods, method));
    const unknown = Object.keys(methods).filter((method) => !Object.hasOwn(definition, method));
    if (missing.length + unknown.length > 0) {
      throw new Error(`${name}: missing methods [${missing.join()}], unknown methods [${unknown.join()}]`);
    }
    const options = {
      asAppError: deps.asAppError?.bind(deps),
      onDefect: deps.onDefect.bind(deps),
      limitMs: settings.callLimitMs ?? DEFAULT_LIMIT_MS,
      stopping: stopping.signal,
    };
    const built: UntypedServiceImplementation = Object.fromEntries(
      Object.entries(methods).map(([method, { build }]) => [method, build(`${name}/${method}`, options)]),
    );
    to.addService(definition, built);
  }
}

async function credentialsFor(
  { tls }: GrpcServerSettings,
  { clock, onTlsError }: GrpcServerDeps,
  signal: AbortSignal,
): Promise<ServerCredentials> {
  if (!tls) return ServerCredentials.createInsecure();
  const credentials = new TlsCredentials(await loadTls(tls.files), tls.minVersion);
  void watchTls(
    { files: tls.files, clock, onChange: (material) => credentials.replace(material), onError: onTlsError },
    signal,
  );
  return credentials;
}

/** Unwraps the system error that gRPC wraps, so that the operator sees the remedy. */
function listen(server: Server, address: Address, credentials: ServerCredentials): Promise<number> {
  const target = formatAddress({ ...address, host: address.host || '0.0.0.0' });
  return new Promise((resolve, reject) => {
    server.bindAsync(target, credentials, (error, port) => (error ? reject(error) : resolve(port)));
  });
}
