import type { DeadLetterWrite } from './index';
import { keys } from './index';
import { useStore } from './store.testing';

const use = useStore();

/** Fails a job; later calls have later times. */
async function dead(id: string, tenant = 'acme'): Promise<void> {
  await use.accept(id, { tenant });
  const body = JSON.stringify({ job_id: id, tenant, created_at: '' });
  const deadLetter: DeadLetterWrite = { body, ttl_sec: 60, topic: 'job.default', reason: `no: ${id}` };
  await use.store.jobs.move('*', id, 'deny', { deadLetter });
}

describe('dead letters', () => {
  it('are paginated newest first per tenant, each listed once', async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) await dead(id);
    await dead('x', 'other');

    const first = await use.store.deadLetters.page('acme', 2);
    const second = await use.store.deadLetters.page('acme', 2, first.more?.last);
    const third = await use.store.deadLetters.page('acme', 2, second.more?.last);

    const ids = [first, second, third].map(({ items }) => items.map(({ job_id }) => job_id));
    expect(ids).toEqual([['e', 'd'], ['c', 'b'], ['a']]);
    expect([first.more?.next.id, second.more?.next.id, third.more]).toEqual(['c', 'a', undefined]);
    expect(await use.store.deadLetters.get('other', 'a')).toBe('other_tenant');
  });

  it('continue after a letter of the same microsecond, even if it was removed', async () => {
    for (const id of ['a', 'b', 'é', 'z']) {
      await dead(id);
      await use.redis.zadd(keys.deadLetters('acme'), 1_000, id);
    }
    const first = await use.store.deadLetters.page('acme', 2);
    await use.store.deadLetters.remove('acme', 'z');

    const rest = await use.store.deadLetters.page('acme', 2, first.more?.last);

    expect([...first.items, ...rest.items].map(({ job_id }) => job_id)).toEqual(['é', 'z', 'b', 'a']);
    expect(rest.more).toBeUndefined();
  });

  it('are removed from Bull Board with their entry; removal is idempotent', async () => {
    await dead('a');
    expect(await use.redis.zcard(keys.queue('dead-letters', 'failed'))).toBe(1);

    await use.store.deadLetters.remove('acme', 'a');
    await use.store.deadLetters.remove('acme', 'a');

    expect(await use.store.deadLetters.get('*', 'a')).toBeUndefined();
    expect(await use.redis.zcard(keys.queue('dead-letters', 'failed'))).toBe(0);
    expect(await use.redis.zcard(keys.deadLetters('acme'))).toBe(0);
  });

  it('are trimmed by age and by number, oldest first', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await dead(id);
    const oldest = Number(await use.redis.zscore(keys.deadLetters('acme'), 'a'));

    expect(await use.store.deadLetters.trim('acme', oldest, 2)).toBe(2);

    const { items } = await use.store.deadLetters.page('acme', 10);
    expect(items.map(({ job_id }) => job_id)).toEqual(['d', 'c']);
  });
});

describe('a lease', () => {
  const lease = (owner: string, ttlMs = 60_000) => use.store.lease('svc:replayer:pending', owner, ttlMs);

  it('is held and renewed by one of many, and available to others after its release', async () => {
    const held = await Promise.all(['a', 'b', 'c'].map((owner) => lease(owner).hold()));
    const [winner = ''] = ['a', 'b', 'c'].filter((_, i) => held[i]);

    expect(held.filter(Boolean)).toHaveLength(1);
    expect(await lease(winner).hold()).toBe(true);
    await lease('stranger').free();
    expect(await lease('stranger').hold()).toBe(false);
    await lease(winner).free();
    expect(await lease('stranger').hold()).toBe(true);
  });

  it('is renewed only by its owner, and never acquired by renewal', async () => {
    expect(await lease('a').renew()).toBe(false);
    await lease('a', 1_000).hold();

    expect([await lease('b').renew(), await lease('a').renew()]).toEqual([false, true]);
    expect(await use.redis.pttl('svc:replayer:pending')).toBeGreaterThan(1_000);
  });

  it('expires', async () => {
    await lease('a', 1_000).hold();

    expect(await use.redis.pttl('svc:replayer:pending')).toBeGreaterThan(0);
    expect(await use.redis.pttl('svc:replayer:pending')).toBeLessThanOrEqual(1_000);
  });
});

describe('bodies behind pointers', () => {
  it('are read up to a limit, with their full size', async () => {
    await use.redis.set('res:j', Buffer.from([0, 255, 1, 2]));

    const found = await use.store.data.read('redis://res:j', 2);

    expect(found).toEqual({ body: Buffer.from([0, 255]), sizeBytes: 4 });
    expect(await use.store.data.read('redis://res:none', 2)).toBeNull();
    await use.redis.set('res:empty', '');
    expect(await use.store.data.read('redis://res:empty', 2)).toEqual({ body: Buffer.alloc(0), sizeBytes: 0 });
    expect((await use.store.data.read('redis://res:j', 100))?.sizeBytes).toBe(4);
  });

  it('a redacted copy of the same content has the same pointer, and expires', async () => {
    const write = () => use.store.data.writeRedacted('j', 'abcdef0123456789ffff', Buffer.from('x'));

    expect(await write()).toBe('redis://res:j:redacted:abcdef0123456789');
    expect(await write()).toBe(await write());
    expect(await use.redis.ttl('res:j:redacted:abcdef0123456789')).toBeGreaterThan(0);
  });

  it('memory is returned by type', async () => {
    await use.redis.rpush('mem:l', 'a', 'b');
    await use.redis.hset('mem:h', 'f', 'v');
    await use.redis.set('mem:s', 'text');

    expect(await use.store.data.memory('mem:l')).toEqual({ type: 'list', items: [Buffer.from('a'), Buffer.from('b')] });
    expect(await use.store.data.memory('mem:h')).toEqual({ type: 'hash', items: { f: Buffer.from('v') } });
    expect(await use.store.data.memory('mem:s')).toEqual({ type: 'string', value: Buffer.from('text') });
    expect(await use.store.data.memory('mem:none')).toBeNull();
  });
});

describe('config documents', () => {
  it('are returned in the requested order, with null for missing ones', async () => {
    const document = { scope: 'org', scope_id: 'acme', data: { a: 1 }, revision: 1, updated_at: '', meta: {} };
    await use.store.config.replace(document, 0);

    const found = await use.store.config.documents([
      ['system', 'default'],
      ['org', 'acme'],
    ]);

    expect(found).toEqual([null, document]);
    expect(await use.store.config.documents([])).toEqual([]);
  });

  it('are replaced only by a writer that read the newest revision', async () => {
    const document = { scope: 'system', scope_id: 'policy', data: { a: 1 }, revision: 1, updated_at: '', meta: {} };
    const { config } = use.store;

    const first = await Promise.all([1, 2, 3].map((a) => config.replace({ ...document, data: { a } }, 0)));
    const stale = await config.replace({ ...document, revision: 2 }, 0);
    const next = await config.replace({ ...document, revision: 2 }, 1);

    expect([first.filter(Boolean).length, stale, next]).toEqual([1, false, true]);
    expect(await config.documents([['system', 'policy']])).toEqual([{ ...document, revision: 2 }]);
    expect([await config.revision('system', 'policy'), await config.revision('system', 'default')]).toEqual([2, 0]);
    expect(await config.revisions('system', ['default', 'policy'])).toEqual(new Map([['system/policy', 2]]));
    expect(await config.revisions('system', [])).toEqual(new Map());
  });

  const revisions = async (texts: readonly string[]) => {
    const document = { scope: 'system', scope_id: 'x', updated_at: '', meta: {} };
    for (const [i, text] of texts.entries())
      expect(await use.store.config.replace({ ...document, data: { text }, revision: i + 1 }, i)).toBe(true);
  };
  const kept = async () => {
    const found = await Promise.all(
      Array.from({ length: 30 }, (_, back) => use.store.config.earlier('system', 'x', back)),
    );
    return found.flatMap((document) => (document ? [document.revision] : []));
  };

  it('keep their last 20 revisions', async () => {
    await revisions(Array.from({ length: 22 }, (_, i) => `${i}`));

    expect(await kept()).toEqual(Array.from({ length: 20 }, (_, i) => 22 - i));
    expect(await use.store.config.earlier('system', 'x', 21)).toBeNull();
  });

  it('keep fewer when they are very large, but always the previous one', async () => {
    await revisions(['', '', '', '', 'x'.repeat(9_000_000)]);
    expect(await kept()).toEqual([5, 4, 3]);

    await use.store.redis.del('cfg:system:x', 'svc:cfg:history:system:x');
    await revisions(['', '', 'x'.repeat(17_000_000)]);
    expect(await kept()).toEqual([3, 2]);
  });

  it('keep a document written before revisions were stored', async () => {
    const document = { scope: 'system', scope_id: 'x', data: { a: 1 }, revision: 3, updated_at: '', meta: {} };
    await use.redis.set('cfg:system:x', JSON.stringify(document));

    await use.store.config.replace({ ...document, revision: 4 }, 3);

    expect(await kept()).toEqual([4, 3]);
  });

  it('are counted once for the tenant that wrote them, without those of its org', async () => {
    const write = (scope: string, scope_id: string, meta: Record<string, string>, revision = 1) =>
      use.store.config.replace({ scope, scope_id, data: {}, revision, updated_at: '', meta }, revision - 1);
    await write('team', 'a', { tenant: 'acme' });
    await write('team', 'a', { tenant: 'acme' }, 2);
    await write('step', 'a', { tenant: 'acme' });
    await write('team', 'b', { tenant: 'globex' });
    await write('org', 'acme', { tenant: 'acme' });
    await write('workflow', 'a', {});

    expect([await use.store.config.countOf('acme'), await use.store.config.countOf('globex')]).toEqual([2, 1]);
  });
});

describe('open jobs', () => {
  it('are listed between two times, oldest first, so that a reader can resume', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await use.accept(id);
    await use.store.jobs.move('*', 'b', 'cancel');

    const first = await use.store.index.openBefore('acme', Infinity, 2);
    const rest = await use.store.index.openBefore('acme', Infinity, 2, (first.at(-1)?.updated_at ?? 0) + 1);

    expect([first, rest].map((jobs) => jobs.map(({ id }) => id))).toEqual([['a', 'c'], ['d']]);
  });
});
