import Redis from 'ioredis';
import { connect, type NatsConnection } from 'nats';
import { startNats } from './nats-server';
import { startRedis } from './redis-server';
import type { TestServer } from './server';

/** The servers of a test file; available inside hooks and tests. */
export interface Servers {
  readonly redis: TestServer;
  readonly nats: TestServer;
  readonly redisUrl: string;
  readonly natsUrl: string;
}

export interface ServersOptions {
  /**
   * Reset of JetStream before each test. `delete` (default) removes streams and their deduplication state. `purge` keeps
   * streams and consumers, for a file that subscribes once before all tests.
   */
  streams?: 'delete' | 'purge';
}

/**
 * Provides a Redis and a NATS for one test file: emptied before each test, stopped after the last. Call at the top of a
 * `describe`.
 */
export function useServers({ streams = 'delete' }: ServersOptions = {}): Servers {
  let running: { redis: TestServer; nats: TestServer } | undefined;
  const servers = () => {
    if (!running) throw new Error('the servers are available only inside hooks and tests');
    return running;
  };

  beforeAll(async () => {
    const [redis, nats] = await Promise.all([startRedis(), startNats()]);
    running = { redis, nats };
  }, 30_000);
  beforeEach(async () => {
    const { redis, nats } = servers();
    await Promise.all([redis.start(), nats.start()]);
    await Promise.all([emptyRedis(redis.url), emptyStreams(nats.url, streams)]);
  }, 30_000);
  afterAll(async () => {
    await Promise.all([running?.redis.stop(), running?.nats.stop()]);
  }, 30_000);

  return {
    get redis() {
      return servers().redis;
    },
    get nats() {
      return servers().nats;
    },
    get redisUrl() {
      return servers().redis.url;
    },
    get natsUrl() {
      return servers().nats.url;
    },
  };
}

/** Removes every key of every database. */
export async function emptyRedis(url: string): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true });
  try {
    await redis.connect();
    await redis.flushall();
  } finally {
    redis.disconnect();
  }
}

/** Deletes every JetStream stream with its consumers, or only the messages in it. */
export async function emptyStreams(url: string, how: 'delete' | 'purge'): Promise<void> {
  let connection: NatsConnection | undefined;
  try {
    connection = await connect({ servers: url });
    const { streams } = await connection.jetstreamManager();
    for await (const { config } of streams.list()) await streams[how](config.name);
  } finally {
    await connection?.close();
  }
}
