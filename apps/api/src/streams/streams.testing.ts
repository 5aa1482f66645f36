import type { MountOptions } from '@svc/http';
import { gatewayMetrics, openMetrics, silentLogger, systemClock } from '@svc/runtime';
import { StreamLimits } from '@svc/streams';
import { eventually } from '@svc/testing';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, type ClientOptions } from 'ws';
import type { Api } from '../api.testing';
import { identities, type Who } from '../identities.testing';
import { serveStreams } from './serve-streams';

export const usualStreamEnv = {
  wsPingIntervalMs: 30_000,
  wsPongTimeoutMs: 10_000,
  wsWriteTimeoutMs: 5_000,
  wsRevalidationMs: 120_000,
  wsClientBuffer: 100,
};

export interface StreamServerOptions {
  env?: Partial<typeof usualStreamEnv>;
  options?: Partial<MountOptions>;
  caps?: { perTenant: number; perAddress: number };
}

/** Streams of a gateway on a listener of their own, with their own settings and metrics. */
export interface StreamServer {
  readonly server: Server;
  readonly url: string;
  /** @param label such as `reason="x"` */
  metric(name: string, label?: string): Promise<number>;
  stop(): Promise<void>;
}

export async function startStreams(api: Api, wanted: StreamServerOptions = {}): Promise<StreamServer> {
  const server = createServer((_req, res) => void res.end('served'));
  const { metrics, text } = openMetrics(gatewayMetrics, { pod: 'p' });
  const steps: (() => unknown)[] = [];
  const { hub, limits } = api.ctx.events;
  serveStreams(
    {
      env: { ...usualStreamEnv, ...wanted.env },
      clock: systemClock(),
      log: silentLogger,
      onStop: (_name, step) => void steps.push(step),
    },
    { server },
    {
      ctx: api.ctx,
      options: { ...api.options, ...wanted.options },
      metrics,
      hub,
      limits: wanted.caps ? new StreamLimits(wanted.caps) : limits,
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    server,
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async metric(name, label = '') {
      const line = (await text()).split('\n').find((row) => row.startsWith(name) && row.includes(label));
      return Number(line?.split(' ').at(-1));
    },
    async stop() {
      for (const step of steps) await step();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A WebSocket client that keeps what it receives. */
export interface StreamClient {
  socket: WebSocket;
  packets: Record<string, Record<string, unknown>>[];
  /** Code and reason, once it is closed. */
  closed: Promise<[code: number, reason: string]>;
}

/** @throws Error with the status of a refused upgrade */
export function connectStream(
  url: string,
  { who, key, ...options }: ClientOptions & { who?: Who; key?: string } = {},
  protocols: string[] = [],
): Promise<StreamClient> {
  const credential = key ?? (who && identities[who].key);
  const headers = { ...(credential && { 'X-API-Key': credential }), ...options.headers };
  const socket = new WebSocket(url, protocols, { ...options, headers });
  const packets: StreamClient['packets'] = [];
  socket.on('message', (data) => {
    // A message of this server is one Buffer.
    packets.push(JSON.parse((data as Buffer).toString('utf8')) as StreamClient['packets'][number]);
  });
  const closed = new Promise<[number, string]>((resolve) =>
    socket.once('close', (code, reason) => resolve([code, reason.toString()])),
  );
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve({ socket, packets, closed }));
    socket.once('unexpected-response', (_req, res) => {
      res.resume();
      reject(new Error(String(res.statusCode)));
      socket.terminate();
    });
    socket.on('error', reject);
  });
}

/** Payload names with the job they are about, in order. */
export const summarize = (packets: StreamClient['packets']): [kind: string, jobId: unknown, status: unknown][] =>
  packets.map((packet) => {
    const kind = Object.keys(packet).find((name) => /^(job|heartbeat|alert)/.test(name)) ?? '';
    return [kind, packet[kind]?.['jobId'], packet[kind]?.['status']];
  });

/** Resolves when the client has received an event that is published now, and so everything before it. */
export async function received(api: Api, { packets }: StreamClient, tenant = 'acme', jobId?: string): Promise<void> {
  const marker = `marker-${Math.random()}`;
  api.ctx.events.hub.publish({
    class: 'job',
    type: 'job.progress',
    tenant,
    ...(jobId !== undefined && { jobId }),
    packet: { marker },
  });
  const isMarker = (packet: object) => (packet as { marker?: string }).marker === marker;
  await eventually(() => expect(packets.some(isMarker)).toBe(true));
  packets.splice(packets.findIndex(isMarker), 1);
}
