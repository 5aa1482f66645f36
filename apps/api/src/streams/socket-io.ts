import { AppError, streamSocketIo, type Caller } from '@svc/contract';
import { findJob } from '@svc/jobs';
import type { EventClass, Frame, StreamHub, Subscriber } from '@svc/streams';
import { requireFound } from '@svc/workflows';
import { createServer, type IncomingMessage } from 'node:http';
import { Server, type Socket } from 'socket.io';
import type { ApiContext } from '../context';
import type { CloseReason, SocketDeps } from './stream-socket';
import type { Upgrade } from './upgrade';

/** Rooms of one connection. */
const MAX_ROOMS = 100;
const MAX_INBOUND_BYTES = 4_096;
const MAX_ID_CHARS = 512;

export interface SocketIoDeps extends SocketDeps {
  ctx: Pick<ApiContext, 'reads' | 'events'>;
  hub: StreamHub;
  /** Classes of events that a caller may receive. */
  mayRead(caller: Caller): ReadonlySet<EventClass>;
  asAppError?(error: unknown): AppError | undefined;
  /** Counts a request of a tenant. @throws rate_limited */
  takeRate(tenant: string): Promise<void>;
}

interface Room {
  members: number;
  leave: Promise<() => void>;
}

/** What a client asks to receive: everything of its tenant, one job, or one run. */
type Wanted = { kind: 'tenant' } | { kind: 'job' | 'run'; id: string };
type Acknowledge = (reply: { ok: true } | { error: string }) => void;

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

/**
 * Serves Socket.IO connections that the gateway has admitted, on the same hub and filter as the WebSocket routes. A room
 * exists for each tenant, job and run, and for each set of classes of events, so that an event is encoded once per room.
 * See docs/reference/streams.md#socketio.
 */
export class SocketIoStreams {
  private readonly io: Server;
  private readonly rooms = new Map<string, Room>();
  /** Events that wait because the connection accepts no more, by socket id. */
  private readonly unsent = new Map<string, number>();
  /** Receives upgrades that were admitted, and never listens. */
  private readonly carrier = createServer();

  constructor(private readonly deps: SocketIoDeps) {
    const { settings } = deps;
    this.io = new Server(this.carrier, {
      path: streamSocketIo.path,
      transports: ['websocket'],
      serveClient: false,
      maxHttpBufferSize: MAX_INBOUND_BYTES,
      pingInterval: settings.pingIntervalMs,
      pingTimeout: settings.pongTimeoutMs,
      connectTimeout: 10_000,
    });
    this.io.on('connection', (socket) => this.serve(socket));
  }

  take(upgrade: Upgrade): void {
    upgrades.set(upgrade.req, upgrade);
    upgrade.socket.once('close', upgrade.release);
    this.carrier.emit('upgrade', upgrade.req, upgrade.socket, upgrade.head);
  }

  close(): void {
    for (const socket of this.io.sockets.sockets.values()) disconnect(socket, 'shutdown');
  }

  private serve(socket: Socket): void {
    const upgrade = upgrades.get(socket.request);
    if (!upgrade) return void socket.disconnect(true);
    const { metrics, settings, nowMs, log } = this.deps;
    const openedAtMs = nowMs();
    metrics.wsClients.inc();
    log.info('stream opened', { conn_id: socket.id, tenant: upgrade.caller.tenant });
    const check = () => void this.revalidate(socket, upgrade);
    const recheck = setInterval(check, settings.revalidationMs);
    const unfollow = upgrade.followCredential(check);
    socket.conn.on('drain', () => void this.unsent.delete(socket.id));
    socket.conn.on('packetCreate', ({ type }: { type: string }) => void (type === 'ping' && metrics.wsPings.inc()));
    socket.conn.on('packet', ({ type }: { type: string }) => void (type === 'pong' && metrics.wsPongs.inc()));
    // A socket leaves its rooms before the event `disconnect`.
    const joined = new Set<string>();
    socket.on('subscribe', (wanted: unknown, acknowledge: unknown) => {
      void this.join(socket, upgrade.caller, joined, wanted).then(...replyTo(acknowledge, this.deps));
    });
    socket.on('unsubscribe', (wanted: unknown, acknowledge: unknown) => {
      const [reply] = replyTo(acknowledge, this.deps);
      const parsed = parseWanted(wanted);
      if (parsed) this.leave(socket, joined, this.toRoom(upgrade.caller, parsed).name);
      reply();
    });
    socket.on('disconnect', (reason) => {
      clearInterval(recheck);
      unfollow();
      this.unsent.delete(socket.id);
      metrics.wsClients.dec();
      metrics.wsSeconds.observe((nowMs() - openedAtMs) / 1_000);
      if (reason === 'ping timeout') metrics.wsPongTimeouts.inc();
      log.info('stream closed', { conn_id: socket.id, reason: toReason(reason) });
      for (const name of joined) this.leave(socket, joined, name);
    });
  }

  /** @throws rate_limited, invalid_body, job_not_found, run_not_found, tenant_access_denied, access_denied, too_many_streams */
  private async join(socket: Socket, caller: Caller, joined: Set<string>, request: unknown): Promise<void> {
    await this.deps.takeRate(caller.tenant);
    const wanted = parseWanted(request);
    if (!wanted) throw new AppError('invalid_body');
    const { name, subscriber } = this.toRoom(caller, wanted);
    if (joined.has(name)) return;
    if (joined.size >= MAX_ROOMS) throw new AppError('too_many_streams');
    const { ctx } = this.deps;
    const needed = wanted.kind === 'run' ? 'run' : 'job';
    if (!subscriber.classes.has(needed)) throw new AppError('access_denied');
    // Counted before the first wait, so that parallel requests do not exceed the limit.
    joined.add(name);
    try {
      if (wanted.kind === 'job') await findJob(ctx.reads, caller.scope, wanted.id);
      if (wanted.kind === 'run')
        requireFound(await ctx.events.store.runs.head(caller.scope, wanted.id), 'run_not_found');
    } catch (error) {
      joined.delete(name);
      throw error;
    }
    const room = this.rooms.get(name) ?? {
      members: 0,
      leave: this.deps.hub.subscribe(this.toSubscriber(name, subscriber)),
    };
    this.rooms.set(name, room);
    room.members += 1;
    try {
      await room.leave;
    } catch (error) {
      this.leave(socket, joined, name);
      throw error;
    }
    if (!socket.connected) return this.leave(socket, joined, name);
    await socket.join(name);
  }

  private leave(socket: Socket, joined: Set<string>, name: string): void {
    if (!joined.delete(name)) return;
    void socket.leave(name);
    const room = this.rooms.get(name);
    if (!room) return;
    room.members -= 1;
    if (room.members > 0) return;
    this.rooms.delete(name);
    room.leave.then(
      (leave) => leave(),
      () => undefined,
    );
  }

  private toRoom(caller: Caller, wanted: Wanted): { name: string; subscriber: Omit<Subscriber, 'deliver'> } {
    const { scope } = caller;
    const classes = this.deps.mayRead(caller);
    const id = wanted.kind === 'tenant' ? '' : wanted.id;
    return {
      name: JSON.stringify([wanted.kind, scope, id, [...classes]]),
      subscriber: {
        scope,
        classes,
        ...(wanted.kind === 'job' && { jobId: id }),
        ...(wanted.kind === 'run' && { runId: id }),
      },
    };
  }

  private toSubscriber(name: string, subscriber: Omit<Subscriber, 'deliver'>): Subscriber {
    return {
      ...subscriber,
      deliver: (frame) => {
        for (const id of this.members(name)) this.unsent.set(id, (this.unsent.get(id) ?? 0) + 1);
        this.io.to(name).emit('event', toMessage(frame));
      },
      flush: () => this.evictSlow(name),
    };
  }

  private members(name: string): Iterable<string> {
    return this.io.sockets.adapter.rooms.get(name) ?? [];
  }

  /** Disconnects members of a room that have too many unsent events. */
  private evictSlow(name: string): void {
    const { metrics, settings } = this.deps;
    for (const id of this.members(name)) {
      const socket = this.io.sockets.sockets.get(id);
      const unsent = this.unsent.get(id) ?? 0;
      const connection = socket && upgrades.get(socket.request)?.socket;
      // A connection that was just evicted stays in its rooms until its end is processed.
      if (!connection || connection.destroyed || unsent < settings.maxQueued) continue;
      metrics.wsEvictions.inc({ reason: 'buffer_full' });
      metrics.wsPacketsDropped.inc(unsent);
      // It does not read, so no message can reach it.
      connection.destroy();
    }
  }

  private async revalidate(socket: Socket, { recheck }: Upgrade): Promise<void> {
    const { metrics } = this.deps;
    try {
      const isAllowed = await recheck();
      metrics.wsRevalidations.inc({ outcome: isAllowed ? 'ok' : 'revoked' });
      if (!isAllowed) disconnect(socket, 'revalidation_revoked');
    } catch {
      metrics.wsRevalidations.inc({ outcome: 'error' });
    }
  }
}

function disconnect(socket: Socket, reason: CloseReason): void {
  socket.emit('closing', { reason });
  socket.disconnect(true);
}

const toReason = (reason: string): string => {
  if (reason === 'ping timeout') return 'ping_timeout';
  return reason === 'server namespace disconnect' ? 'closed_by_gateway' : 'client_close';
};

/** The message of an event: the packet, and what it is about. */
function toMessage({ event: { type, tenant, jobId, runId, packet } }: Frame): object {
  return {
    type,
    ...(tenant !== undefined && { tenant }),
    ...(jobId !== undefined && { job_id: jobId }),
    ...(runId !== undefined && { run_id: runId }),
    packet: typeof packet === 'string' ? (JSON.parse(packet) as unknown) : packet,
  };
}

/** `{}` is the room of the tenant, `{ job_id }` and `{ run_id }` those of one record. */
function parseWanted(request: unknown): Wanted | undefined {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) return undefined;
  const { job_id: job, run_id: run, ...rest } = request as Record<string, unknown>;
  if (Object.keys(rest).length > 0 || (job !== undefined && run !== undefined)) return undefined;
  if (job === undefined && run === undefined) return { kind: 'tenant' };
  const id = job ?? run;
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID_CHARS) return undefined;
  return { kind: job === undefined ? 'run' : 'job', id };
}

/** Clients may send anything in place of the acknowledgement. */
function replyTo(
  acknowledge: unknown,
  { asAppError, log }: SocketIoDeps,
): [onDone: () => void, onFailed: (error: unknown) => void] {
  const reply: Acknowledge = (answer) => {
    if (typeof acknowledge === 'function') (acknowledge as Acknowledge)(answer);
  };
  return [
    () => reply({ ok: true }),
    (error) => {
      const known = error instanceof AppError ? error : asAppError?.(error);
      if (!known) log.error('defect', { error });
      reply({ error: (known ?? new AppError('internal_error')).toBody().code });
    },
  ];
}
