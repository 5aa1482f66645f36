import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { addressBucket } from './client-address';

export interface ConnectionLimits {
  /** Maximum connections. GATEWAY_HTTP_MAX_CONNECTIONS. */
  maxConnections: number;
  /** Maximum connections per address. GATEWAY_HTTP_MAX_CONNECTIONS_PER_ADDRESS. */
  maxConnectionsPerAddress: number;
  /** Addresses exempt from the limit per address, such as trusted proxies. */
  isProxy?(address: string): boolean;
  /** A connection was closed on arrival. */
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
    // Announced again for each request that ignores an upgrade.
    if (sockets.has(socket)) return;
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

/** Unfinished responses of a connection, and the last one that was started. */
export interface SocketAnswers {
  readonly open: ReadonlySet<ServerResponse>;
  readonly last: ServerResponse | undefined;
}

const noAnswers: SocketAnswers = { open: new Set(), last: undefined };

/** Tracks the unfinished responses of each connection. */
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
 * Closes connections that have not accepted outgoing bytes for the timeout, otherwise a client that does not read would
 * keep the response in memory indefinitely. Slow reading is allowed. A connection with a running handler is kept, since
 * handlers have their own timeout; an idle one is closed after its keep-alive time.
 */
export function endStalled(
  server: Server | TlsServer,
  writeTimeoutMs: number,
  answersOf: (socket: Socket) => SocketAnswers,
): void {
  // With a listener, Node does not close the socket itself; bytes that left the write queue count as activity.
  server.setTimeout(writeTimeoutMs, (socket: Socket) => {
    const isWaiting = socket.writableLength === 0 && answersOf(socket).open.size > 0;
    if (!isWaiting) socket.destroy();
  });
}
