import { Redis } from 'ioredis';
import { monitorCommands, parseMonitorLine, type MonitoredCommand } from './command-monitor';
import { useServers } from './use-servers';

describe('parseMonitorLine', () => {
  it.each([
    ['+1339518083.107412 [0 127.0.0.1:60866] "HGETALL" "{s0}:job:1"', '127.0.0.1:60866', 'hgetall'],
    ['+1.2 [0 127.0.0.1:1] "evalsha" "96fb0aa1c6" "1" "k"', '127.0.0.1:1', 'evalsha 96fb0aa1'],
    ['+1.2 [0 127.0.0.1:1] "ping"', '127.0.0.1:1', 'ping'],
    ['+1.2 [0 lua] "HSET" "a" "b" "c"', 'lua', 'hset'],
  ])('reads %s', (line, from, name) => {
    expect(parseMonitorLine(line)).toEqual({ from, name });
  });

  it.each(['+OK', ''])('ignores "%s"', (line) => {
    expect(parseMonitorLine(line)).toBeUndefined();
  });
});

describe('monitorCommands', () => {
  const servers = useServers();
  let client: Redis;
  beforeEach(() => (client = new Redis(servers.redisUrl)));
  afterEach(() => client.disconnect());

  it('reports each command between open and close exactly once under load', async () => {
    let isOver = false;
    const load = Array.from({ length: 20 }, async () => {
      while (!isOver) await client.incr('load');
    });
    const seen: MonitoredCommand[] = [];

    for (let i = 0; i < 20; i++) {
      const monitor = await monitorCommands(servers.redisUrl, (command) => seen.push(command));
      await client.get('k');
      await monitor.close();
    }
    isOver = true;
    await Promise.all(load);

    expect(seen.filter(({ name }) => name === 'get')).toHaveLength(20);
  });

  it('distinguishes commands inside scripts from those of clients', async () => {
    const seen: MonitoredCommand[] = [];
    const monitor = await monitorCommands(servers.redisUrl, (command) => seen.push(command));

    await client.eval(`for i = 1, 5 do redis.call('INCR', KEYS[1]) end`, 1, 'k');
    await monitor.close();

    expect(seen.filter(({ from }) => from === 'lua').map(({ name }) => name)).toEqual(Array(5).fill('incr'));
    expect(seen.filter(({ from, name }) => from !== 'lua' && name === 'eval')).toHaveLength(1);
  });

  it('rejects when Redis exits before every command was reported', async () => {
    const monitor = await monitorCommands(servers.redisUrl, () => undefined);
    await servers.redis.kill();

    await expect(monitor.close()).rejects.toThrow();
  });
});
