import { useServers } from '@svc/testing';
import { Redis } from 'ioredis';
import { getAddresses, CallCounter, commandCounts, excess } from './redis-counts';

const servers = useServers();

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

  it('counts a script as one client call and as all its commands in Redis', async () => {
    await observer.config('RESETSTAT');
    const counter = await CallCounter.open(servers.redisUrl, await getAddresses(observer, 'watching'));

    await client.eval(script, 1, 'k');
    await client.pipeline().get('k').get('k').exec();
    await observer.get('k');
    const commands = await commandCounts(observer);
    const calls = await counter.close();

    expect([...calls].filter(([name]) => !['info', 'hello', 'client'].includes(name))).toEqual(
      expect.arrayContaining([
        ['eval', 1],
        ['get', 2],
      ]),
    );
    expect([commands.get('incr'), commands.get('eval'), commands.get('get')]).toEqual([5, 1, 3]);
  });
});

describe('excess', () => {
  it('is the difference to the idle counts, per unit', () => {
    const during = new Map([
      ['hset', 40],
      ['hget', 25],
    ]);

    expect([...excess(during, new Map([['hget', 5]]), 10)]).toEqual([
      ['hset', 4],
      ['hget', 2],
    ]);
  });
});
