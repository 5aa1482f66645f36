import { nkeyAuthenticator, type ConnectionOptions } from 'nats';

export interface BusOptions {
  /** One server or several, separated by commas. `tls://` refuses a server without TLS. */
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

export type Environment = Readonly<Record<string, string | undefined>>;

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function durationMs(env: Environment, name: string, fallbackMs: number): number {
  const text = env[name];
  if (!text) return fallbackMs;
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const factor = unitsMs[unit];
  if (!amount || !factor) throw new Error(`${name} must be a duration such as 30s, 10m or 7d, not "${text}"`);
  return Number(amount) * factor;
}

function count(env: Environment, name: string, fallback: number, most: number): number {
  const text = env[name];
  if (!text) return fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name} must be a whole number from 1, not "${text}"`);
  return Math.min(value, most);
}

const isOn = (text: string | undefined) => ['1', 'true', 'yes', 'on'].includes((text ?? '').toLowerCase());

/**
 * The bus as `NATS_*` describe it. Operations contract 1.2, except that a message waits 60 s for its acknowledgement
 * unless NATS_JS_ACK_WAIT says otherwise: long handlers send in-progress acknowledgements, so a short wait costs nothing
 * and a consumer that died is noticed sooner.
 *
 * @throws Error naming the variable that cannot be read
 */
export function busOptionsFromEnv(env: Environment, senderId: string): BusOptions {
  const url = env['NATS_URL'] || 'nats://localhost:4222';
  const tls = tlsFromEnv(env);
  const auth = authFromEnv(env);
  return {
    url,
    senderId,
    ...(tls && { tls }),
    ...(auth && { auth }),
    jetstream: isOn(env['NATS_USE_JETSTREAM'] ?? '1'),
    ackWaitMs: durationMs(env, 'NATS_JS_ACK_WAIT', 60_000),
    maxAgeMs: durationMs(env, 'NATS_JS_MAX_AGE', 7 * 86_400_000),
    replicas: count(env, 'NATS_JS_REPLICAS', 1, 5),
    maxAckPending: count(env, 'NATS_MAX_ACK_PENDING', 2_048, 50_000),
    pingIntervalMs: durationMs(env, 'NATS_PING_INTERVAL', 30_000),
    reconnectWaitMs: 2_000,
  };
}

/** User and password, then token, then nkey. Wire contract section 7. */
function authFromEnv(env: Environment): BusOptions['auth'] {
  const { NATS_USERNAME: user, NATS_PASSWORD: pass, NATS_TOKEN: token, NATS_NKEY: nkeySeed } = env;
  if (user) return { user, pass: pass ?? '' };
  if (token) return { token };
  return nkeySeed ? { nkeySeed } : undefined;
}

function tlsFromEnv(env: Environment): BusOptions['tls'] {
  const { NATS_TLS_CA: caFile, NATS_TLS_CERT: certFile, NATS_TLS_KEY: keyFile, NATS_TLS_SERVER_NAME: serverName } = env;
  const insecure = isOn(env['NATS_TLS_INSECURE']);
  if (Boolean(certFile) !== Boolean(keyFile)) throw new Error('NATS_TLS_CERT and NATS_TLS_KEY come together');
  if (!caFile && !certFile && !serverName && !insecure) return undefined;
  return {
    ...(caFile && { caFile }),
    ...(certFile && { certFile }),
    ...(keyFile && { keyFile }),
    ...(serverName && { serverName }),
    ...(insecure && { insecure }),
  };
}

/** The options in the client's words: reconnects for ever, and the first connection too keeps trying. */
export function connectionOptions(options: BusOptions): ConnectionOptions {
  const { url, tls, auth } = options;
  const servers = url.split(',').map((server) => server.trim());
  const needsTls = tls || servers.some((server) => server.startsWith('tls://'));
  return {
    servers,
    name: options.senderId,
    maxReconnectAttempts: -1,
    reconnectTimeWait: options.reconnectWaitMs,
    pingInterval: options.pingIntervalMs,
    waitOnFirstConnect: true,
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
