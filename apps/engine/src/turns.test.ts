import { keys } from '@svc/store';
import { eventually } from '@svc/testing';
import { Redis } from 'ioredis';
import { useEngine } from './use-engine.testing';

const worked: string[] = [];
const use = useEngine({
  topics: {
    'job.>': ({ jobId, context }) => {
      worked.push(jobId);
      return { echo: context };
    },
  },
});
const passes = (part: string) => use.store.redis.zcard(keys.queue('workflow-passes', part));

describe('a run whose engine is notified', () => {
  const chain = {
    one: { topic: 'job.work', input: { n: 1 } },
    two: { topic: 'job.work', depends_on: ['one'] },
    three: { topic: 'job.work', depends_on: ['two'] },
  };
  /** The engine takes new runs once it has announced itself. */
  const listening = () => eventually(async () => (await use.store.redis.scard(keys.runEngines())) > 0);

  it('proceeds without its queue entries, one save for each turn', async () => {
    await use.start({ withoutQueues: true, withoutLoops: true });
    await listening();

    const id = await use.submitRun(chain);

    await use.ended(id, 'succeeded');
    // The creation, the start, and the ends of the three steps.
    expect(await use.store.redis.hmget(keys.run(id), 'revision', 'awake')).toEqual(['5', null]);
    expect(await passes('delayed')).toBe(0);
  });

  it('is taken by its queue entry when the notification is lost', async () => {
    await use.start();
    // It receives the notification and does nothing, as an engine that was killed at that moment.
    const ghost = new Redis(use.servers.redisUrl);
    await ghost.subscribe(keys.runWakes('ghost'));
    const id = await use.submitRun({
      wait: { type: 'signal', signal: 'go' },
      then: { topic: 'job.work', depends_on: ['wait'] },
    });
    await use.step(id, 'wait', 'waiting');
    await eventually(async () => expect(await use.store.redis.hget(keys.run(id), 'awake')).toBeNull());
    await use.store.redis.hset(keys.run(id), 'home', 'ghost');

    await use.postEvent(id, { kind: 'signal', name: 'go', payload: {} });

    await use.ended(id, 'succeeded');
    ghost.disconnect();
  });

  it('executes each step once with several engines, of which some stop', async () => {
    const [first, second] = await Promise.all([use.start(), use.start(), use.start()]);
    await listening();
    worked.length = 0;
    const flow = await use.workflow(chain);

    const ids = await Promise.all(Array.from({ length: 20 }, () => use.run(flow)));
    await Promise.all([first, second].map((engine) => use.stop(engine)));

    for (const id of ids) await use.ended(id, 'succeeded');
    expect([worked.length, new Set(worked).size]).toEqual([60, 60]);
  });

  it('starts a large fan-out in several turns, each one call, without a pass', async () => {
    await use.start({ withoutQueues: true, withoutLoops: true });
    await listening();
    worked.length = 0;
    const items = Array.from({ length: 200 }, (_, i) => i);

    const id = await use.submitRun(
      { all: { topic: 'job.work', for_each: 'input.items' } },
      { items },
      { config: { resources: { max_parallel_steps: 150 } } },
    );

    await use.ended(id, 'succeeded');
    expect([...worked].sort()).toEqual(items.map((i) => `${id}:all[${i}]@1`).sort());
    // No turn left anything to be done after its save, which a pass under the lock would have to do.
    expect(await use.store.redis.hmget(keys.run(id), 'acting', 'awake')).toEqual(['0', null]);
  });

  it('starts the items of a fan-out in their order', async () => {
    await use.start();
    worked.length = 0;
    const items = Array.from({ length: 40 }, (_, i) => i);

    const id = await use.submitRun(
      { all: { topic: 'job.work', for_each: 'input.items' } },
      { items },
      { config: { resources: { max_parallel_steps: 1 } } },
    );

    await use.ended(id, 'succeeded');
    expect(worked).toEqual(items.map((i) => `${id}:all[${i}]@1`));
  });
});
