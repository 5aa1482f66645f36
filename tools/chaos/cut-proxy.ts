import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { natsCutter } from './frames';
import type { Detour } from './world';

/** Current conditions of the connections; may change while they are open. */
export interface Weather {
  /** Delay of all data; the order is kept. */
  delayMs: number;
  /** Every publish of a client on the bus is sent twice. */
  isDoubling: boolean;
}

export interface CutProxy {
  readonly url: string;
  readonly weather: Weather;
  /** Data held back by a delay. */
  readonly underWay: number;
  /** Closes every connection immediately, even within a message. */
  cut(): void;
  close(): Promise<void>;
}

/** Proxy between clients and Redis or NATS that delays, duplicates and disconnects. */
export async function startCutProxy(scheme: 'redis' | 'nats', targetPort: number): Promise<CutProxy> {
  const weather: Weather = { delayMs: 0, isDoubling: false };
  const way = { weather, held: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
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
    const double = scheme === 'nats' ? doubler(weather) : (bytes: Buffer) => bytes;
    pipe(client, upstream, way, double);
    pipe(upstream, client, way, (bytes) => bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    weather,
    get underWay() {
      return way.held;
    },
    cut: () => sockets.forEach((socket) => socket.resetAndDestroy()),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Way {
  weather: Weather;
  held: number;
}

function pipe(from: Socket, to: Socket, way: Way, change: (bytes: Buffer) => Buffer): void {
  const queue: { bytes: Buffer; dueMs: number }[] = [];
  const next = () => {
    const [first] = queue;
    if (first) setTimeout(arrive, Math.max(0, first.dueMs - Date.now()));
  };
  const arrive = () => {
    const first = queue.shift();
    way.held--;
    if (first && !to.destroyed) to.write(first.bytes);
    next();
  };
  from.on('data', (data: Buffer) => {
    const bytes = change(data);
    // Queued behind delayed data, even after the delay has ended.
    if (way.weather.delayMs === 0 && queue.length === 0) return void to.write(bytes);
    way.held++;
    if (queue.push({ bytes, dueMs: Date.now() + way.weather.delayMs }) === 1) next();
  });
}

/** Parses requests from the first byte on, so that duplication can start at any time. */
function doubler(weather: Weather): (bytes: Buffer) => Buffer {
  const cutter = natsCutter();
  return (bytes) =>
    Buffer.concat(
      cutter
        .push(bytes)
        .flatMap(({ verb, bytes: frame }) =>
          weather.isDoubling && (verb === 'PUB' || verb === 'HPUB') ? [frame, frame] : [frame],
        ),
    );
}

/** Adds to the list, for each service of a world, a proxy in front of Redis and one in front of the bus. */
export const cutDetour =
  (ways: CutProxy[]) =>
  async (_: string, ports: { redis: number; nats: number }): Promise<Detour> => {
    const [redis, nats] = await Promise.all([startCutProxy('redis', ports.redis), startCutProxy('nats', ports.nats)]);
    ways.push(redis, nats);
    return { redisUrl: redis.url, natsUrl: nats.url, close: async () => void (await closeAll([redis, nats])) };
  };

export const closeAll = (ways: readonly CutProxy[]) => Promise.all(ways.map((way) => way.close()));
