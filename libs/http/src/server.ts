import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { openTlsFiles, type TlsSettings } from './tls-files';

export interface ServeOptions {
  host: string;
  /** 0 = any free port. */
  port: number;
  tls?: TlsSettings;
  /** A request must have come in whole within this time. GATEWAY_HTTP_READ_TIMEOUT. */
  requestTimeoutMs: number;
  /** How long an unused connection is kept. GATEWAY_HTTP_IDLE_TIMEOUT. */
  idleTimeoutMs: number;
  /** A TLS pair that could not be loaded after a change. */
  onProblem(problem: Error): void;
  /** How often the TLS files are looked at; 30 s when absent. */
  tlsLookEveryMs?: number;
}

export interface Listening {
  /** The node server, to which upgrades attach. */
  server: Server | TlsServer;
  port: number;
  /** Stops accepting, lets requests in flight finish for that long, then cuts what is left. */
  close(drainMs: number): Promise<void>;
}

const limits = { headersTimeout: 10_000, maxHeaderSize: 16 * 1_024, keepAlive: true } as const;
const tlsLookEveryMs = 30_000;

/**
 * Serves an app over HTTP, or HTTPS when given a certificate, which is replaced without a restart when its files change.
 *
 * @throws Error when the address is taken or the certificate cannot be used
 */
export async function serve(app: RequestListener, options: ServeOptions): Promise<Listening> {
  const timeouts: ServerOptions = {
    ...limits,
    requestTimeout: options.requestTimeoutMs,
    headersTimeout: Math.min(limits.headersTimeout, options.requestTimeoutMs),
    keepAliveTimeout: options.idleTimeoutMs,
    connectionsCheckingInterval: 1_000,
  };
  const { server, stopLooking } = options.tls
    ? tlsServer(app, timeouts, options.tls, options)
    : { server: createServer(timeouts, app), stopLooking: () => undefined };
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => resolve());
  });
  return {
    server,
    port: (server.address() as AddressInfo).port,
    async close(drainMs) {
      stopLooking();
      await drain(server, drainMs);
    },
  };
}

function tlsServer(app: RequestListener, timeouts: ServerOptions, tls: TlsSettings, options: ServeOptions) {
  const files = openTlsFiles(tls, options.onProblem);
  const mutual = tls.clientCaPath ? { requestCert: true, rejectUnauthorized: true } : {};
  const server = createTlsServer({ ...timeouts, ...files.context, ...mutual }, app);
  const timer = setInterval(() => {
    const context = files.changed();
    if (context) server.setSecureContext(context);
  }, options.tlsLookEveryMs ?? tlsLookEveryMs).unref();
  return { server, stopLooking: () => clearInterval(timer) };
}

/** `close` also ends idle keep-alive connections; those in use end with their answer, which says so. */
function drain(server: Server | TlsServer, drainMs: number): Promise<void> {
  server.prependListener('request', (_req, res) => void res.setHeader('Connection', 'close'));
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), drainMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
  });
}
