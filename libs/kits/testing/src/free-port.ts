import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/**
 * Below the system's range of ephemeral ports, so no other program is assigned the port before the caller listens or while a
 * killed server is down.
 */
const firstPort = 20_000;
const portCount = 10_000;
/** Random start, so that concurrent processes pick different ports. */
let nextOffset = randomInt(portCount);

/** Finds a free TCP port of the loopback address. Returns each port at most once per process. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < portCount; tries++) {
    const port = await tryPort(firstPort + (nextOffset++ % portCount));
    if (port !== undefined) return port;
  }
  throw new Error(`no port from ${firstPort} to ${firstPort + portCount - 1} is free`);
}

/** @returns the port when it can be listened on (0: any), undefined when it is taken */
export async function tryPort(wanted: number): Promise<number | undefined> {
  const server = createServer();
  try {
    server.listen(wanted, '127.0.0.1');
    await once(server, 'listening');
  } catch {
    return undefined; // In use or not permitted: the caller tries another port.
  }
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : undefined;
}

/** Whether a server accepts connections on the port. */
export const accepts = (port: number, host = '127.0.0.1') =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, host);
    const answer = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => answer(true)).once('error', () => answer(false));
  });
