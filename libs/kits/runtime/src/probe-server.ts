import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { formatAddress, metricsBinding, type Address } from './address';
import type { Health, ProbeAnswer } from './health';

export interface ProbeServerOptions {
  /** Port 0 selects a free port. */
  addr: Address;
  health: Health;
  metrics: { contentType: string; text(): Promise<string> };
  /** Production without `*_METRICS_PUBLIC`: an address without a host then means loopback. */
  loopbackInProduction?: { production: boolean; open: boolean };
  /** Called with unexpected errors; the client sees 500. */
  onError: (error: unknown) => void;
}

export interface ProbeServer {
  /** Where it listens, the real port included. */
  address: Address;
  url: string;
  close(): Promise<void>;
}

/**
 * Serves `/metrics`, `/healthz`, `/livez` and `/readyz` for a process.
 *
 * @throws the system's error (EADDRINUSE, EACCES) when it cannot listen
 */
export async function startProbeServer(options: ProbeServerOptions): Promise<ProbeServer> {
  const { addr, health, metrics, loopbackInProduction, onError } = options;
  const { host, port } = loopbackInProduction ? metricsBinding(addr, loopbackInProduction) : addr;
  const pages: Record<string, (res: ServerResponse) => Promise<void>> = {
    '/healthz': async (res) => answer(res, health.healthz()),
    '/livez': async (res) => answer(res, health.livez()),
    '/readyz': async (res) => answer(res, await health.readyz()),
    '/metrics': async (res) => send(res, 200, metrics.contentType, await metrics.text()),
  };
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (req, res) => {
    req.resume();
    const page = pages[(req.url ?? '').split('?')[0] ?? ''];
    if (!page) return send(res, 404, 'text/plain', 'not found\n');
    if (req.method !== 'GET' && req.method !== 'HEAD') return send(res, 405, 'text/plain', 'method not allowed\n');
    page(res).catch((error: unknown) => {
      onError(error);
      send(res, 500, 'text/plain', 'internal error\n');
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host && { host }) }, resolve);
  });
  const bound = server.address() as AddressInfo; // a server that listens on a port has one
  const address = { host, port: bound.port };
  return {
    address,
    url: `http://${formatAddress({ host: host || '127.0.0.1', port: bound.port })}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const answer = (res: ServerResponse, { status, body }: ProbeAnswer) =>
  send(res, status, 'application/json', `${JSON.stringify(body)}\n`);

function send(res: ServerResponse, status: number, type: string, text: string): void {
  res.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  res.end(text);
}
