import { startServer, type TestServer } from './server';

/** Starts a Redis with the durability that services require: every acknowledged write is on disk. */
export const startRedis = (): Promise<TestServer> =>
  startServer({
    program: 'redis-server',
    scheme: 'redis',
    args: (port, dataDir) => ['--bind', '127.0.0.1', '--port', String(port), '--dir', dataDir, ...durable],
  });

const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--maxmemory-policy', 'noeviction'];
