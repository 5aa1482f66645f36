import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { requireProgram } from '@svc/testing';
import { answersOk } from './probe';
import type { PickPort } from './ports';
import type { ProcessPlan } from './supervised';

export interface StorePlan {
  url: string;
  process: ProcessPlan;
}

/** Redis that has on disk what it has acknowledged, and refuses writes rather than forgetting something. */
export async function planRedis(dataDir: string, pickPort: PickPort): Promise<StorePlan> {
  const dir = join(dataDir, 'redis');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const port = await pickPort(6379);
  const args = ['--bind', '127.0.0.1', '--port', String(port), '--dir', dir, '--daemonize', 'no', ...durable];
  return {
    url: `redis://127.0.0.1:${port}`,
    process: {
      name: 'redis',
      command: requireProgram('redis-server'),
      args,
      cwd: dir,
      env: process.env,
      isReady: () => pong(port),
    },
  };
}

const durable = [
  ...['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''],
  // Without a limit nobody could say when it is nearly reached.
  ...['--maxmemory-policy', 'noeviction', '--maxmemory', '2gb', '--loglevel', 'warning'],
];

export async function planNats(dataDir: string, pickPort: PickPort): Promise<StorePlan & { monitorUrl: string }> {
  const dir = join(dataDir, 'nats');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const port = await pickPort(4222);
  const monitorUrl = `http://127.0.0.1:${await pickPort(8222)}`;
  const monitorPort = new URL(monitorUrl).port;
  return {
    url: `nats://127.0.0.1:${port}`,
    monitorUrl,
    process: {
      name: 'nats',
      command: requireProgram('nats-server'),
      args: ['-a', '127.0.0.1', '-p', String(port), '-m', monitorPort, '-js', '-sd', dir],
      cwd: dir,
      env: process.env,
      isReady: () => answersOk(`${monitorUrl}/healthz`),
    },
  };
}

/** While Redis reads its data it accepts connections and answers errors. */
const pong = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.setTimeout(2_000, () => socket.destroy());
    socket.once('data', (data) => {
      resolve(data.toString().startsWith('+PONG'));
      socket.destroy();
    });
    socket.once('error', () => resolve(false)).once('close', () => resolve(false));
  });
