import { loadTls, systemClock, tlsServerOptions, watchTls, type TlsFiles, type TlsVersion } from '@svc/runtime';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { boundConnections, endStalled, trackAnswers, type ConnectionLimits } from './connections';
import { answerMalformed } from './malformed';

export interface ServeOptions extends ConnectionLimits {
  host: string;
  /** 0 = any free port. */
  port: number;
  tls?: { files: TlsFiles; minVersion: TlsVersion };
  /** Time to receive a whole request. GATEWAY_HTTP_READ_TIMEOUT. */
  requestTimeoutMs: number;
  /** Time an idle connection is kept. GATEWAY_HTTP_IDLE_TIMEOUT. */
  idleTimeoutMs: number;
  /** Time without write progress after which a connection is closed. GATEWAY_HTTP_WRITE_TIMEOUT. */
  writeTimeoutMs: number;
  /** Called for a changed TLS pair that cannot be loaded; the old one stays in use. */
  onProblem(problem: unknown): void;
  /** Interval of checks for changed TLS files; default 30 s. */
  tlsLookEveryMs?: number;
}

export interface Listening {
  /** The node server, to which upgrades attach. */
  server: Server | TlsServer;
  port: number;
  /** Stops accepting, lets requests in flight finish within the timeout, then closes the remaining connections. */
  close(drainMs: number): Promise<void>;
}

const limits = { headersTimeout: 10_000, maxHeaderSize: 16 * 1_024, keepAlive: true } as const;

/**
 * Serves an app over HTTP, or HTTPS when given a certificate, which is replaced without a restart when its files change.
 *
 * @throws Error when the address is in use, StartError when the certificate cannot be used
 */
export async function serve(app: RequestListener, options: ServeOptions): Promise<Listening> {
  const timeouts: ServerOptions = {
    ...limits,
    requestTimeout: options.requestTimeoutMs,
    headersTimeout: Math.min(limits.headersTimeout, options.requestTimeoutMs),
    keepAliveTimeout: options.idleTimeoutMs,
    connectionsCheckingInterval: 1_000,
  };
  const watching = new AbortController();
  const server = options.tls
    ? await tlsServer(app, timeouts, options.tls, options, watching.signal)
    : createServer(timeouts, app);
  const sockets = boundConnections(server, options);
  const getPendingResponses = trackAnswers(server);
  endStalled(server, options.writeTimeoutMs, getPendingResponses);
  answerMalformed(server, getPendingResponses);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => resolve());
  });
  return {
    server,
    port: (server.address() as AddressInfo).port,
    async close(drainMs) {
      watching.abort();
      await drain(server, sockets, drainMs);
    },
  };
}

async function tlsServer(
  app: RequestListener,
  timeouts: ServerOptions,
  { files, minVersion }: NonNullable<ServeOptions['tls']>,
  { tlsLookEveryMs, onProblem }: ServeOptions,
  signal: AbortSignal,
): Promise<TlsServer> {
  const material = await loadTls(files);
  const server = createTlsServer({ ...timeouts, ...tlsServerOptions(material, minVersion) }, app);
  const onChange = (changed: typeof material) => server.setSecureContext(tlsServerOptions(changed, minVersion));
  const every = tlsLookEveryMs === undefined ? {} : { everyMs: tlsLookEveryMs };
  const watch = { files, clock: systemClock(), onChange, onError: onProblem, ...every };
  watchTls(watch, signal).catch(onProblem);
  return server;
}

/**
 * Closes idle connections immediately, and others after their response. Upgraded ones are closed by the app, or
 * after the timeout, otherwise the server would wait for them forever.
 */
function drain(server: Server | TlsServer, sockets: ReadonlySet<Socket>, drainMs: number): Promise<void> {
  server.prependListener('request', (_req, res) => void res.setHeader('Connection', 'close'));
  return new Promise((resolve) => {
    const idle = setInterval(() => server.closeIdleConnections(), 20);
    const cut = setTimeout(() => endAll([...sockets]), drainMs);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(cut);
      resolve();
    });
    endAll([...sockets].filter(({ bytesRead }) => bytesRead === 0));
  });
}

const endAll = (sockets: readonly Socket[]): void => sockets.forEach((socket) => socket.destroy());
