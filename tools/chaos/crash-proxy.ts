import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { natsCutter, redisCutter, type Cutter, type Frame } from './frames';
import { natsOperation, redisOperation, type Operations } from './operations';

/** How to split one protocol into requests, name them, and detect that all earlier ones were executed. */
interface Protocol {
  cutter(): Cutter;
  /** Names the requests of one connection, in their order; undefined for those that are not counted. */
  namer(): (frame: Frame) => string | undefined;
  /** A request whose response follows the responses to all earlier requests. */
  marker(): { request: string; answer: string };
}

const redis: Protocol = {
  cutter: redisCutter,
  // A transaction is one operation: commands before EXEC have no effect, and a marker gets no response there.
  namer() {
    let within: string | undefined;
    return (frame) => {
      if (frame.verb === 'MULTI') within = '';
      else if (frame.verb === 'EXEC' && within !== undefined) {
        const name = `EXEC of ${within}`;
        within = undefined;
        return name;
      } else if (within === undefined) return redisOperation(frame);
      else within ||= redisOperation(frame) ?? '';
      return undefined;
    };
  },
  marker() {
    const word = randomUUID();
    return { request: `*2\r\n$4\r\nECHO\r\n$${word.length}\r\n${word}\r\n`, answer: word };
  },
};

const nats: Protocol = {
  cutter: natsCutter,
  namer: () => natsOperation,
  marker: () => ({ request: 'PING\r\n', answer: 'PONG' }),
};

export interface CrashProxy {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Proxy between one service and its Redis or bus. Counts the operations of the service, and kills it at the armed one:
 * `before` the server receives it, or `after` the server has executed it and before the service gets the response.
 */
export const startRedisCrashProxy = (targetPort: number, operations: Operations) =>
  start('redis', redis, targetPort, operations);
export const startNatsCrashProxy = (targetPort: number, operations: Operations) =>
  start('nats', nats, targetPort, operations);

async function start(scheme: string, protocol: Protocol, targetPort: number, operations: Operations) {
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined); // handled on close
      socket.once('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    relay(protocol, operations, client, upstream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  } satisfies CrashProxy;
}

function relay(protocol: Protocol, operations: Operations, client: Socket, upstream: Socket): void {
  const cutter = protocol.cutter();
  const nameOf = protocol.namer();
  let dying: { name: string; answer: string; seen: string } | undefined;
  const end = (name: string) => {
    operations.die(name);
    client.destroy();
    upstream.destroy();
  };
  client.on('data', (bytes: Buffer) => {
    for (const frame of cutter.push(bytes)) {
      if (client.destroyed || dying) return;
      const name = nameOf(frame);
      const fate = name === undefined ? 'pass' : operations.note(name);
      if (fate === 'before') return end(name ?? '');
      upstream.write(frame.bytes);
      if (fate !== 'after') continue;
      const { request, answer } = protocol.marker();
      dying = { name: name ?? '', answer, seen: '' };
      upstream.write(request);
      return;
    }
  });
  upstream.on('data', (bytes: Buffer) => {
    if (!dying) return void client.write(bytes);
    dying.seen = (dying.seen + bytes.toString('latin1')).slice(-2_000);
    if (dying.seen.includes(dying.answer)) end(dying.name);
  });
}
