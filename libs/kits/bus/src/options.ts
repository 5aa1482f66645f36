import type { commonVariables, EnvOf } from '@svc/runtime';
import { parseServerList } from '@svc/jetstream';
import { nkeyAuthenticator, type ConnectionOptions } from 'nats';

export interface BusOptions {
  /**
   * One server or several, separated by commas. `tls://` refuses a server without TLS. Credentials in it count where
   * `auth` is absent.
   */
  url: string;
  /** Sender id of the packets this bus publishes itself, and the name of the connection. */
  senderId: string;
  tls?: { caFile?: string; certFile?: string; keyFile?: string; serverName?: string; insecure?: boolean };
  auth?: { user: string; pass: string } | { token: string } | { nkeySeed: string };
  /** Off: every subject is core NATS and only the replayer recovers what is lost. */
  jetstream: boolean;
  /** How long a delivered message may stay without an acknowledgement or an in-progress one. */
  ackWaitMs: number;
  maxAgeMs: number;
  replicas: number;
  maxAckPending: number;
  pingIntervalMs: number;
  reconnectWaitMs: number;
}

type BusEnv = EnvOf<typeof commonVariables>;

/** The bus as `NATS_*` describe it. */
export function busOptions(env: BusEnv, senderId: string): BusOptions {
  const tls = tlsOf(env);
  const auth = authOf(env);
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
function authOf({
  natsUsername: user,
  natsPassword: pass,
  natsToken: token,
  natsNkey: nkeySeed,
}: BusEnv): BusOptions['auth'] {
  if (user) return { user, pass: pass ?? '' };
  if (token) return { token };
  return nkeySeed ? { nkeySeed } : undefined;
}

function tlsOf(env: BusEnv): BusOptions['tls'] {
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

/** Limit of the first connection attempt to each server, and of each reconnection. */
const connectTimeoutMs = 5_000;

/** The options in the client's words. A connection that was made once reconnects for ever. */
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

/** The client hands names it does not know on to Node's own TLS. */
const tlsOptions = ({ serverName, insecure, ...files }: NonNullable<BusOptions['tls']>): object => ({
  ...files,
  ...(serverName && { servername: serverName }),
  ...(insecure && { rejectUnauthorized: false }),
});
