import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Redis from 'ioredis';
import { connect } from 'nats';
import { accepts, eventually, freePort, startRedis, tryPort, useServers } from './index';

describe('useServers', () => {
  const servers = useServers();
  const redis = async <T>(act: (redis: Redis) => Promise<T>) => {
    const client = new Redis(servers.redisUrl);
    return act(client).finally(() => client.disconnect());
  };
  const streams = async () => {
    const connection = await connect({ servers: servers.natsUrl });
    const manager = await connection.jetstreamManager();
    return { connection, manager };
  };

  // Both cases run the same test: the second fails if the first leaves data behind.
  it.each(['first', 'second'])('provides the %s test with an empty Redis and no stream', async () => {
    const { connection, manager } = await streams();
    const found = await manager.streams.list().next();
    await manager.streams.add({ name: 'left', subjects: ['left.>'] });
    const duplicate = (await connection.jetstream().publish('left.one', '', { msgID: 'one' })).duplicate;
    await connection.close();

    expect(found).toEqual([]);
    expect(duplicate).toBe(false);
    expect(await redis((r) => r.dbsize())).toBe(0);
    await redis((r) => r.set('left', 'behind'));
  });

  it('keeps acknowledged writes after a SIGKILL', async () => {
    await redis((r) => r.set('kept', 'yes'));

    await servers.redis.kill();
    await servers.redis.start();

    expect(await redis((r) => r.get('kept'))).toBe('yes');
  });
});

describe('startRedis', () => {
  it('stops the process', async () => {
    const server = await startRedis();

    await server.stop();

    expect(await accepts(server.port)).toBe(false);
  });
});

describe('spawnLeashed', () => {
  it('leaves neither process nor data when the process that started a server is killed', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'svc-leash-'));
    const script = join(dir, 'dies.cjs');
    const port = await freePort();
    writeFileSync(script, dyingOwner(port, join(dir, 'data')));

    const owner = spawn(process.execPath, [script], { stdio: 'inherit' });
    await eventually(() => accepts(port));
    owner.kill('SIGKILL');
    await once(owner, 'exit');

    await eventually(async () => !(await accepts(port)) && !existsSync(join(dir, 'data')));
    rmSync(dir, { recursive: true });
  });
});

describe('eventually', () => {
  it('returns the first result that is not false', async () => {
    let asked = 0;

    expect(await eventually(() => ++asked > 2 && asked)).toBe(3);
  });

  it('throws the last failure after the time limit', async () => {
    await expect(eventually(() => expect(1).toBe(2), { withinMs: 1, everyMs: 1 })).rejects.toThrow('Expected: 2');
    await expect(eventually(() => false, { withinMs: 1, everyMs: 1 })).rejects.toThrow('still false');
  });
});

describe('freePort', () => {
  it('returns each port once, and none in the range of ephemeral ports', async () => {
    const [from = 0] = systemRange();

    const ports = await Promise.all(Array.from({ length: 50 }, () => freePort()));

    expect(new Set(ports).size).toBe(50);
    expect(Math.max(...ports)).toBeLessThan(from);
  });
});

describe('tryPort', () => {
  it('is undefined for a port that is in use', async () => {
    const server = await startRedis();

    expect(await tryPort(server.port)).toBeUndefined();

    await server.stop();
  });
});

/** First and last ephemeral port of the system; the default range where it cannot be read. */
const systemRange = (): number[] => {
  const file = '/proc/sys/net/ipv4/ip_local_port_range';
  return existsSync(file) ? readFileSync(file, 'utf8').split(/\s+/).map(Number) : [32_768, 60_999];
};

/** Source of a process that starts a server with `spawnLeashed` and then waits to be killed. */
function dyingOwner(port: number, dataDir: string) {
  const server = `require('node:fs').mkdirSync(${JSON.stringify(dataDir)});
    const { createServer } = require('node:net');
    createServer().listen(${port}, '127.0.0.1');`;
  return `
    require(${JSON.stringify(require.resolve('esbuild-register/dist/node'))}).register();
    const { spawnLeashed } = require(${JSON.stringify(join(__dirname, 'leash.ts'))});
    spawnLeashed(process.execPath, ['-e', ${JSON.stringify(server)}], { scratchDir: ${JSON.stringify(dataDir)} });
    setInterval(() => undefined, 1000);`;
}
