import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** A TCP port of the loopback address that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  const port = await tryPort(0);
  if (port === undefined) throw new Error('the system has no free port');
  return port;
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
