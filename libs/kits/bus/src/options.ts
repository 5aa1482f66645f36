import type { commonVariables, EnvOf } from '@svc/runtime';
import { type PacketSigner, parseServerList } from '@svc/jetstream';
import { nkeyAuthenticator, type ConnectionOptions } from 'nats';

export interface BusOptions {
  /**
   * One server or several, separated by commas. `tls://` rejects a server without TLS. Credentials in it are used
   * when `auth` is absent.
   */
  url: string;
  /** Sender id of the packets this bus publishes itself, and the name of the connection. */
  senderId: string;
  tls?: { caFile?: string; certFile?: string; keyFile?: string; serverName?: string; insecure?: boolean };
  auth?: { user: string; pass: string } | { token: string } | { nkeySeed: string };
  /** Off: every subject uses core NATS, and only the replayer recovers lost messages. */
  jetstream: boolean;
  /** Time after which a message without acknowledgement or progress is redelivered. */
  ackWaitMs: number;
  maxAgeMs: number;
  replicas: number;
  maxAckPending: number;
  pingIntervalMs: number;
  reconnectWaitMs: number;
  /** Signs the packets that this bus publishes. */
  signer?: PacketSigner | undefined;
}

type BusEnv = EnvOf<typeof commonVariables>;

/** Bus options from `NATS_*`. */
export function busOptions(env: BusEnv, senderId: string): BusOptions {
  const tls = readTls(env);
  const auth = readAuth(env);
  return {
    url: env.natsUrl,
    senderId,
    ...(tls && { tls }),
    ...(auth && { auth }),
    jetstream: env.natsJetStream,
    ackWaitMs: env.natsAckWaitMs,
    maxAgeMs: env.natsMaxAgeMs,
    replicas: env.natsReplicas,
    maxAckPending: env.natsMaxAckPending,
    pingIntervalMs: env.natsPingIntervalMs,
    reconnectWaitMs: 2_000,
  };
}

/** User and password, then token, then nkey. See docs/reference/worker-protocol.md#delivery. */
function readAuth({
  natsUsername: user,
  natsPassword: pass,
  natsToken: token,
  natsNkey: nkeySeed,
}: BusEnv): BusOptions['auth'] {
  if (user) return { user, pass: pass ?? '' };
  if (token) return { token };
  return nkeySeed ? { nkeySeed } : undefined;
}

function readTls(env: BusEnv): BusOptions['tls'] {
  const { natsTlsCa: caFile, natsTlsCert: certFile, natsTlsKey: keyFile, natsTlsServerName: serverName } = env;
  if (!caFile && !certFile && !serverName && !env.natsTlsInsecure) return undefined;
  return {
    ...(caFile && { caFile }),
    ...(certFile && { certFile }),
    ...(keyFile && { keyFile }),
    ...(serverName && { serverName }),
    ...(env.natsTlsInsecure && { insecure: true }),
  };
}

/** Timeout of connection attempts. */
const connectTimeoutMs = 5_000;

/** Options of the NATS client. An established connection reconnects indefinitely. */
export function connectionOptions(options: BusOptions): ConnectionOptions {
  const { url, tls } = options;
  const { servers, credentials } = parseServerList(url);
  const auth = options.auth ?? credentials;
  const needsTls = tls || servers.some((server) => server.startsWith('tls://'));
  return {
    servers,
    name: options.senderId,
    maxReconnectAttempts: -1,
    reconnectTimeWait: options.reconnectWaitMs,
    pingInterval: options.pingIntervalMs,
    timeout: connectTimeoutMs,
    ignoreAuthErrorAbort: true,
    ...(needsTls && { tls: tlsOptions(tls ?? {}) }),
    ...(auth && 'nkeySeed' in auth ? { authenticator: nkeyAuthenticator(Buffer.from(auth.nkeySeed)) } : auth),
  };
}

/** The client passes unknown options to Node's TLS. */
const tlsOptions = ({ serverName, insecure, ...files }: NonNullable<BusOptions['tls']>): object => ({
  ...files,
  ...(serverName && { servername: serverName }),
  ...(insecure && { rejectUnauthorized: false }),
});
