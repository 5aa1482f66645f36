import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { OutboundError } from './outbound-error';
import type { Resolve } from './settings';

export interface LoopbackServer {
  port: number;
  /** Number of connections accepted so far. */
  connections(): number;
  /** Resolves once every accepted connection has ended. */
  allClosed(): Promise<void>;
  close(): Promise<void>;
}

export const startHttp = (handler: RequestListener): Promise<LoopbackServer> => listen(createServer(handler));

export const startHttps = (tls: { cert: string; key: string }, handler: RequestListener): Promise<LoopbackServer> =>
  listen(createTlsServer(tls, handler));

/** Starts a server that writes raw bytes. */
export const startTcp = (handler: (socket: Socket) => void): Promise<LoopbackServer> =>
  listen(
    createTcpServer((socket) => {
      handler(socket);
      socket.resume(); // An unread socket does not notice that its peer has closed it.
    }),
  );

async function listen(server: Server): Promise<LoopbackServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  let onClosed = () => undefined as void;
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => undefined); // The tests make the client reset connections.
    socket.on('close', () => {
      sockets.delete(socket);
      if (sockets.size === 0) onClosed();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as AddressInfo).port, // Never null or a path: the server listens on a port.
    connections: () => connections,
    allClosed: () => (sockets.size === 0 ? Promise.resolve() : new Promise((done) => void (onClosed = done))),
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((done) => server.close(() => done()));
    },
  };
}

/** Resolves names from lists of answers: the nth lookup of a name has the nth answer, later ones the last. */
export function scriptedResolve(answers: Readonly<Record<string, readonly (readonly string[])[]>>) {
  const lookups: string[] = [];
  const resolve: Resolve = (name, _options, callback) => {
    const nth = lookups.filter((earlier) => earlier === name).length;
    lookups.push(name);
    const addresses = answers[name]?.at(Math.min(nth, (answers[name]?.length ?? 1) - 1));
    if (!addresses) return callback(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }), []);
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return { resolve, lookups };
}

/** The status of a response, or the reason the request failed. */
export async function getOutcome(response: Promise<{ status: number }>): Promise<string | number> {
  try {
    return (await response).status;
  } catch (error) {
    if (error instanceof OutboundError) return error.reason;
    throw error;
  }
}
