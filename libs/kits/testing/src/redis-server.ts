import { startServer, type TestServer } from './server';

/** A Redis with the durability the services ask for: every acknowledged write is on disk. */
export const startRedis = (): Promise<TestServer> =>
  startServer({
    program: 'redis-server',
    scheme: 'redis',
    args: (port, dataDir) => ['--bind', '127.0.0.1', '--port', String(port), '--dir', dataDir, ...durable],
  });

const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--maxmemory-policy', 'noeviction'];
