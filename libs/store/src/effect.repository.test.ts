import { type EffectClaim, keys, toEffectScope } from './index';
import { useStore, waitingPlan } from './store.testing';

const call = (digit: string) => digit.repeat(32);

describe('the ledger of effects', () => {
  const use = useStore();
  /** Accepts a job and dispatches it to the worker `w1`. */
  const dispatched = async (id: string, over: Parameters<typeof use.accept>[1] = {}) => {
    await use.accept(id, over);
    const worker = { id: 'w1', pool: 'main', max: 100 };
    await use.store.jobs.admit(id, { ...waitingPlan, worker, dispatchId: `d-${id}`, set: {} });
    return loaded(id);
  };
  const loaded = async (id: string) => {
    const job = await use.store.jobs.load(id);
    if (!job) throw new Error(`no job ${id}`);
    return job;
  };
  const claim = (id: string, over: Partial<EffectClaim> = {}): EffectClaim => ({
    ...{ tenant: 'acme', jobId: id, workerId: 'w1', dispatchId: `d-${id}`, key: 'charge', call: call('a') },
    ...over,
  });
  const begin = async (id: string, over: Partial<EffectClaim> = {}) =>
    use.store.effects.begin(await loaded(id), claim(id, over));
  const end = async (id: string, event: 'finish' | 'abandon', over: Partial<EffectClaim> = {}, result?: string) =>
    use.store.effects.end(await loaded(id), claim(id, over), event, result);
  const settlement = { event: 'confirm', by: 'boss', role: 'admin', reason: 'seen' } as const;

  it('lets one of many concurrent calls make an effect', async () => {
    await dispatched('j');

    const digits = [...'0123456789abcdef'];
    const kinds = await Promise.all(digits.map(async (digit) => (await begin('j', { call: call(digit) })).kind));

    expect(kinds.filter((kind) => kind === 'begun')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'unknown')).toHaveLength(15);
  });

  it('replies to a repeated request as before, and returns a result to other calls', async () => {
    await dispatched('j');

    expect([await begin('j'), await begin('j')]).toEqual([{ kind: 'begun' }, { kind: 'begun' }]);
    expect(await end('j', 'finish', {}, '{"a":1}')).toEqual({ kind: 'ended', state: 'done' });
    expect(await end('j', 'finish', {}, '{"a":2}')).toEqual({ kind: 'ended', state: 'done' });
    expect(await begin('j', { call: call('b') })).toEqual({ kind: 'done', result: '{"a":1}' });
    expect(await begin('j', { key: 'mail' })).toEqual({ kind: 'begun' });
  });

  it('takes intents from the current dispatch of the holder only', async () => {
    await dispatched('j');
    await use.accept('waiting');

    const kinds = [
      begin('j', { tenant: 'globex' }),
      begin('j', { workerId: 'w2' }),
      begin('j', { dispatchId: 'd0' }),
      begin('waiting'),
      use.store.effects.begin({ id: 'gone' }, claim('gone')),
    ];

    expect(await Promise.all(kinds)).toEqual([
      { kind: 'other_tenant' },
      { kind: 'superseded' },
      { kind: 'superseded' },
      { kind: 'not_in_flight', state: 'PENDING' },
      { kind: 'missing' },
    ]);
    expect(await use.store.effects.ofJob({ id: 'j' })).toEqual([]);
  });

  it('takes the end of an effect only from the call that began it', async () => {
    await dispatched('j');
    await begin('j');

    for (const over of [
      { tenant: 'x' },
      { workerId: 'w2' },
      { dispatchId: 'd0' },
      { call: call('b') },
      { key: 'mail' },
    ]) {
      expect(await end('j', 'finish', over)).toEqual({ kind: 'missing' });
    }
    expect(await use.store.effects.ofJob({ id: 'j' })).toMatchObject([{ state: 'begun' }]);
  });

  it.each([
    ['cancel', 'CANCELLED'],
    ['fail', 'FAILED'],
    ['succeed', 'SUCCEEDED'],
  ] as const)('makes begun effects unknown with the transition %s, and leaves done ones', async (event, state) => {
    await dispatched('j');
    await begin('j');
    await begin('j', { key: 'mail' });
    await end('j', 'finish', { key: 'mail' });

    await use.store.jobs.move('*', 'j', event);

    expect(await loaded('j')).toMatchObject({ state, outcome: 'unknown' });
    const effects = await use.store.effects.ofJob({ id: 'j' });
    expect(effects.map((effect) => [effect.key, effect.state])).toEqual([
      ['charge', 'unknown'],
      ['mail', 'done'],
    ]);
    for (const { id } of effects) expect(await use.redis.ttl(keys.effect(id))).toBeGreaterThan(0);
  });

  it('is settled once, and not by another tenant', async () => {
    await dispatched('j');
    await begin('j');
    await use.store.jobs.move('*', 'j', 'cancel');
    const id = (await use.store.effects.page('acme', 'unknown', 10)).items[0]?.id ?? '';

    expect(await use.store.effects.settle('globex', id, settlement)).toEqual({ kind: 'missing' });
    const answers = await Promise.all([
      use.store.effects.settle('acme', id, settlement),
      use.store.effects.settle('acme', id, { ...settlement, event: 'deny' }),
    ]);

    expect(answers.filter(({ kind }) => kind === 'settled')).toHaveLength(1);
    expect(await use.store.effects.get('globex', id)).toBeUndefined();
    expect(await loaded('j')).toMatchObject({ outcome: 'settled' });
    expect((await use.store.effects.page('acme', 'unknown', 10)).items).toEqual([]);
  });

  it('is shared by a job and its retry, and outlives the first while the second runs', async () => {
    await dispatched('j');
    await begin('j');
    await end('j', 'finish', {}, '1');
    await use.store.jobs.move('*', 'j', 'fail');

    await dispatched('retry', { fields: { effects_of: toEffectScope(await loaded('j')) } });

    expect(await begin('retry', { call: call('b') })).toEqual({ kind: 'done', result: '1' });
    const [effect] = await use.store.effects.ofJob(await loaded('retry'));
    expect(await use.redis.ttl(keys.effect(effect?.id ?? ''))).toBe(-1);
    await use.store.jobs.move('*', 'retry', 'succeed');
    expect(await use.redis.ttl(keys.effect(effect?.id ?? ''))).toBeGreaterThan(0);
    expect(await loaded('retry')).not.toHaveProperty('outcome');
  });

  it('pages unknown effects, each once, and forgets expired ones', async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await dispatched(id);
      await begin(id);
      await use.store.jobs.move('*', id, 'cancel');
    }

    const seen: string[] = [];
    let cursor: number | null = Infinity;
    while (cursor !== null) {
      const { items, nextCursorUs } = await use.store.effects.page('acme', 'unknown', 2, cursor);
      seen.push(...items.map(({ job_id }) => job_id));
      cursor = nextCursorUs;
    }
    expect(seen).toEqual(['e', 'd', 'c', 'b', 'a']);

    const [oldest] = await use.store.effects.ofJob({ id: 'a' });
    await use.redis.del(keys.effect(oldest?.id ?? ''));
    await dispatched('f');
    await begin('f');
    await use.store.jobs.move('*', 'f', 'cancel');
    expect(await use.redis.zcard(keys.effectsInState('acme', 'unknown'))).toBe(5);
  });

  it('has at most 1,000 effects of a job', async () => {
    await dispatched('j');
    await Promise.all(Array.from({ length: 1_000 }, (_, i) => begin('j', { key: `key ${i}` })));

    expect(await begin('j', { key: 'one more' })).toEqual({ kind: 'full' });
    expect(await begin('j', { key: 'key 1' })).toEqual({ kind: 'begun' });
  });
});

it('attempts of a step share a scope; jobs outside of runs have their own', () => {
  expect(toEffectScope({ id: 'r:pay@1', run: 'r', run_path: 'pay[2]' })).toBe('run:r:pay[2]');
  expect(toEffectScope({ id: 'r:undo@1', run: 'r' })).toBe('job:r:undo@1');
  expect(toEffectScope({ id: 'j', effects_of: 'job:first' })).toBe('job:first');
});
