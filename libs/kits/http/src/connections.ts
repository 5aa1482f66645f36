import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { addressBucket } from './client-address';

export interface ConnectionLimits {
  /** Connections in all. GATEWAY_HTTP_MAX_CONNECTIONS. */
  maxConnections: number;
  /** Connections of one address. GATEWAY_HTTP_MAX_CONNECTIONS_PER_ADDRESS. */
  maxConnectionsPerAddress: number;
  /** Addresses without a limit of their own: a trusted proxy carries the connections of many clients. */
  isProxy?(address: string): boolean;
  /** A connection was closed when it was opened. */
  onConnectionRefused?(limit: 'total' | 'address'): void;
}

/** Open sockets; those beyond a limit are closed before a byte of them is read. */
export function boundConnections(server: Server | TlsServer, limits: ConnectionLimits): ReadonlySet<Socket> {
  const { maxConnections, maxConnectionsPerAddress, isProxy, onConnectionRefused } = limits;
  const sockets = new Set<Socket>();
  const perAddress = new Map<string, number>();
  server.maxConnections = maxConnections;
  server.on('drop', () => onConnectionRefused?.('total'));
  server.prependListener('connection', (socket: Socket) => {
    sockets.add(socket);
    const { remoteAddress = '' } = socket;
    const address = isProxy?.(remoteAddress) ? undefined : addressBucket(remoteAddress);
    const count = (address === undefined ? 0 : (perAddress.get(address) ?? 0)) + 1;
    if (address !== undefined) perAddress.set(address, count);
    socket.once('close', () => {
      sockets.delete(socket);
      if (address === undefined) return;
      const left = (perAddress.get(address) ?? 1) - 1;
      if (left > 0) perAddress.set(address, left);
      else perAddress.delete(address);
    });
    if (count <= maxConnectionsPerAddress) return;
    socket.destroy();
    onConnectionRefused?.('address');
  });
  return sockets;
}

/** The answers of a connection that have not left, and the last one that was begun. */
export interface SocketAnswers {
  readonly open: ReadonlySet<ServerResponse>;
  readonly last: ServerResponse | undefined;
}

const noAnswers: SocketAnswers = { open: new Set(), last: undefined };

/** Keeps track of which answers are under way on which connection. */
export function trackAnswers(server: Server | TlsServer): (socket: Socket) => SocketAnswers {
  const tracked = new WeakMap<Socket, { open: Set<ServerResponse>; last: ServerResponse }>();
  server.prependListener('request', ({ socket }: IncomingMessage, res: ServerResponse) => {
    const answers = tracked.get(socket) ?? { open: new Set(), last: res };
    answers.last = res;
    answers.open.add(res);
    tracked.set(socket, answers);
    res.once('close', () => answers.open.delete(res));
  });
  return (socket) => tracked.get(socket) ?? noAnswers;
}

/**
 * Ends connections whose outgoing bytes have not moved for so long: a client that asks and does not read would hold the
 * answer in memory for as long as it likes. Reading slowly is allowed. A connection on which a handler still works is kept,
 * since its time is limited elsewhere; an idle one ends when its keep-alive time is up.
 */
export function endStalled(
  server: Server | TlsServer,
  writeTimeoutMs: number,
  answersOf: (socket: Socket) => SocketAnswers,
): void {
  // With a listener, Node leaves it to us to end the socket; it counts bytes that left the write queue as activity.
  server.setTimeout(writeTimeoutMs, (socket: Socket) => {
    const isWaiting = socket.writableLength === 0 && answersOf(socket).open.size > 0;
    if (!isWaiting) socket.destroy();
  });
}
