import { useServers } from '@svc/testing';
import { Redis } from 'ioredis';
import { addressesOf, callOf, CallCounter, commandCounts } from './redis-counts';

const servers = useServers();

describe('callOf', () => {
  it.each([
    ['+1339518083.107412 [0 127.0.0.1:60866] "HGETALL" "{s0}:job:1"', '127.0.0.1:60866', 'hgetall'],
    ['+1.2 [0 127.0.0.1:1] "evalsha" "96fb0aa1c6" "1" "k"', '127.0.0.1:1', 'evalsha 96fb0aa1'],
    ['+1.2 [0 127.0.0.1:1] "ping"', '127.0.0.1:1', 'ping'],
  ])('reads %s', (line, from, name) => {
    expect(callOf(line)).toEqual({ from, name });
  });

  it.each(['+1.2 [0 lua] "HSET" "a" "b" "c"', '+OK', ''])('takes "%s" for no call of a client', (line) => {
    expect(callOf(line)).toBeUndefined();
  });
});

describe('counting', () => {
  let client: Redis;
  let observer: Redis;
  beforeEach(() => {
    client = new Redis(servers.redisUrl);
    observer = new Redis(servers.redisUrl, { connectionName: 'watching' });
  });
  afterEach(() => {
    client.disconnect();
    observer.disconnect();
  });
  const script = `for i = 1, 5 do redis.call('INCR', KEYS[1]) end`;

  it('counts a script as one call of a client and, in Redis, as all that it does', async () => {
    await observer.config('RESETSTAT');
    const counter = await CallCounter.open(servers.redisUrl, await addressesOf(observer, 'watching'));

    await client.eval(script, 1, 'k');
    await client.pipeline().get('k').get('k').exec();
    await observer.get('k');
    // MONITOR is told in the order of execution: once this is seen, so is all before it.
    await client.set('last', 1);
    const commands = await commandCounts(observer);
    const calls = counter.close();

    expect([...calls].filter(([name]) => !['info', 'hello', 'client'].includes(name))).toEqual(
      expect.arrayContaining([
        ['eval', 1],
        ['get', 2],
      ]),
    );
    expect([commands.get('incr'), commands.get('eval'), commands.get('get')]).toEqual([5, 1, 3]);
  });
});
