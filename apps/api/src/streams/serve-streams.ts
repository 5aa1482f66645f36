import { AppError, streamEvents, streamJob, streamSocketIo, type Caller, type Endpoint } from '@svc/contract';
import { addressBucket, incomingFrom, mayUse, routeFinder, type Listening, type MountOptions } from '@svc/http';
import { webSocketProtocol } from '@svc/identity';
import { findJob } from '@svc/jobs';
import type { ApiEnv, Boot } from '@svc/runtime';
import { readableClasses, type StreamHub, type StreamLimits, type Subscriber } from '@svc/streams';
import { randomBytes } from 'node:crypto';
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { ApiContext } from '../context';
import { takeStreamRate, upgradeAdmission } from './admit-upgrade';
import { Reconnections } from './reconnections';
import { SocketIoStreams } from './socket-io';
import { asksForWebSocket, serveAsRequest } from './serve-as-request';
import { StreamSocket, type SocketSettings, type StreamMetrics } from './stream-socket';
import type { Upgrade } from './upgrade';
import { refuseUpgrade } from './upgrade-failure';

/** Largest message of a client; none is expected. */
const MAX_INBOUND_BYTES = 4_096;

type StreamEnv = Pick<
  ApiEnv,
  'wsPingIntervalMs' | 'wsPongTimeoutMs' | 'wsWriteTimeoutMs' | 'wsRevalidationMs' | 'wsClientBuffer'
>;

export interface StreamServerDeps {
  ctx: ApiContext;
  options: MountOptions;
  metrics: StreamMetrics;
  hub: StreamHub;
  limits: StreamLimits;
}

/** Takes over an admitted upgrade. @throws AppError */
type Serve = (upgrade: Upgrade, params: Readonly<Record<string, string>>) => Promise<void>;

export const toSocketSettings = (env: StreamEnv): SocketSettings => ({
  pingIntervalMs: env.wsPingIntervalMs,
  pongTimeoutMs: env.wsPongTimeoutMs,
  writeTimeoutMs: env.wsWriteTimeoutMs,
  revalidationMs: env.wsRevalidationMs,
  maxQueued: env.wsClientBuffer,
});

/** Serves the WebSocket routes of a listening gateway. See docs/reference/streams.md#websocket. */
export function serveStreams(
  { env, clock, log, onStop }: Pick<Boot<StreamEnv>, 'env' | 'clock' | 'log' | 'onStop'>,
  { server }: Pick<Listening, 'server'>,
  { ctx, options, metrics, hub, limits }: StreamServerDeps,
): void {
  const settings = toSocketSettings(env);
  const admit = upgradeAdmission(options);
  const arrive = incomingFrom(options.trustedProxies ?? []);
  const reconnections = new Reconnections();
  const open = new Set<StreamSocket>();
  const webSockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_INBOUND_BYTES,
    perMessageDeflate: false,
    // The other offered value is the key.
    handleProtocols: (offered) => (offered.has(webSocketProtocol) ? webSocketProtocol : firstLegacy(offered)),
  });
  let isStopping = false;

  const connect = async (upgrade: Upgrade, chosen: Chosen) => {
    const { req, socket, head, caller, ip, release } = upgrade;
    // Before the client learns that it is connected, so that it receives every event from then on.
    let stream: StreamSocket | undefined;
    const early: Parameters<Subscriber['deliver']>[0][] = [];
    const leave = await hub
      .subscribe({
        ...chosen,
        deliver: (frame) => (stream ? stream.send(frame) : early.push(frame)),
        flush: () => stream?.flush(),
      })
      .catch((error: unknown) => {
        release();
        throw error;
      });
    const gone = () => (leave(), release());
    if (socket.destroyed) return gone();
    socket.once('close', gone);
    webSockets.handleUpgrade(req, socket, head, (webSocket) => {
      const client = `${caller.keyId} ${caller.principalId} ${ip}`;
      if (reconnections.open(client)) metrics.wsReconnections.inc();
      const connId = randomBytes(8).toString('hex');
      const opened = new StreamSocket(connId, webSocket, socket, upgrade, {
        metrics,
        settings,
        log,
        nowMs: () => clock.nowMs(),
      });
      stream = opened;
      open.add(opened);
      log.info('stream opened', { conn_id: connId, tenant: caller.tenant, ...toLog(chosen) });
      void opened.closed.then(() => {
        gone();
        open.delete(opened);
        reconnections.close(client);
      });
      for (const frame of early) opened.send(frame);
      opened.flush();
      if (isStopping) opened.close('shutdown');
    });
  };

  const mayRead = (caller: Caller) => readableClasses((access) => mayUse(caller, access, options.gate));
  const nowMs = () => clock.nowMs();
  const asAppError = options.asAppError && { asAppError: options.asAppError };
  const takeRate = (tenant: string) => takeStreamRate(options, `tenant:${tenant}`);
  const socketIo = new SocketIoStreams({ ctx, hub, mayRead, metrics, settings, log, nowMs, takeRate, ...asAppError });
  const find = routeFinder<{ endpoint: Endpoint; serve: Serve }>([
    {
      endpoint: streamEvents,
      target: {
        endpoint: streamEvents,
        serve: (upgrade) => connect(upgrade, { scope: upgrade.caller.scope, classes: mayRead(upgrade.caller) }),
      },
    },
    {
      endpoint: streamJob,
      target: {
        endpoint: streamJob,
        serve: async (upgrade, { id = '' }) => {
          const { caller } = upgrade;
          await findJob(ctx.reads, caller.scope, id);
          await connect(upgrade, { scope: caller.scope, classes: mayRead(caller), jobId: id });
        },
      },
    },
    {
      endpoint: streamSocketIo,
      target: { endpoint: streamSocketIo, serve: async (upgrade) => socketIo.take(upgrade) },
    },
  ]);

  const serve = async (req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    // A response is never sent for it; the parts of a request are shared with the REST surface.
    const incoming = arrive(req, new ServerResponse(req));
    const { requestId } = incoming.exchange;
    try {
      if (isStopping) throw new AppError('service_unavailable');
      const found = find('GET', incoming.path);
      if (found.kind !== 'route' || req.method !== 'GET') throw new AppError('not_found');
      const { endpoint, serve: take } = found.target;
      const admitted = await admit(incoming, endpoint, found.params);
      const release = limits.take(admitted.caller.tenant, addressBucket(incoming.ip));
      try {
        await take({ ...admitted, req, socket, head, ip: incoming.ip, release }, found.params);
      } catch (error) {
        release();
        throw error;
      }
    } catch (error) {
      const known = error instanceof AppError ? error : options.asAppError?.(error);
      if (!known) options.onDefect(error, { endpoint: undefined, requestId });
      refuseUpgrade(socket, known ?? new AppError('internal_error'), requestId);
    }
  };

  server.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) => {
    if (!asksForWebSocket(req)) return serveAsRequest(server, req, socket, head);
    // Pings detect a dead client; the timeouts are those of requests.
    socket.setTimeout(0);
    socket.on('error', () => socket.destroy());
    void serve(req, socket, head);
  });
  onStop('streams', async () => {
    isStopping = true;
    const closing = [...open];
    for (const stream of closing) stream.close('shutdown');
    socketIo.close();
    await Promise.all(closing.map(({ closed }) => closed));
  });
}

type Chosen = Pick<Subscriber, 'scope' | 'classes' | 'jobId'>;
const toLog = ({ jobId }: Chosen) => (jobId === undefined ? {} : { job_id: jobId });

/** The deprecated form, in which the key is part of the name, must be echoed for the client to accept the connection. */
const firstLegacy = (offered: ReadonlySet<string>): string | false =>
  [...offered].find((value) => value.startsWith(`${webSocketProtocol}.`)) ?? false;
