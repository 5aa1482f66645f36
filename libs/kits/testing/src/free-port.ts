import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/**
 * Below the range from which the system takes ports for outgoing connections and for listeners on port 0: until the caller
 * listens, and while a server that was killed is down, no other program is given the port.
 */
const firstPort = 20_000;
const portCount = 10_000;
/** Ports are tried in order from a random one, so that processes that pick at once pick different ones. */
let nextOffset = randomInt(portCount);

/** A TCP port of the loopback address on which nothing listens at this moment. A process gets each port once. */
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
    return undefined; // in use, or not ours to bind: the caller takes another one
  }
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : undefined;
}

/** Whether something accepts connections there. */
export const accepts = (port: number, host = '127.0.0.1') =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, host);
    const answer = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => answer(true)).once('error', () => answer(false));
  });
