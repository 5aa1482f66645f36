import { ChainVerifier, emptyHead, isIncluded, inclusionProof, leafHash, treeRoot } from '@svc/audit-chain';
import type { AuditAct } from '@svc/contract';
import { useRedisStore } from '@svc/fixtures/store';
import { keys } from '@svc/store';
import { Sealer } from './sealer';
import { openTree } from './tree';

const use = useRedisStore();
const act = (action: string): AuditAct => ({ event_type: 'system.test', action, severity: 'INFO' });

const events = (tenant: string) => use.store.audit.range(tenant, '-', '+', 10_000);
const actions = async (tenant: string) =>
  (await events(tenant)).map(({ text }) => (JSON.parse(text) as { action: string }).action);
const record = async (tenant: string, from: number, count: number) => {
  for (let i = 0; i < count; i++) await use.store.audit.record(tenant, act(`act-${from + i}`));
};
/** Entries with a line of each of two tenants. */
async function addEntries(count: number): Promise<void> {
  const pipeline = use.redis.pipeline();
  for (const name of names(count)) {
    const lines = ['acme', 'globex'].map((tenant) => `act\t${tenant}\t1000000\t${JSON.stringify(act(name))}`);
    pipeline.xadd(use.store.keys.auditOutbox(), '*', 'lines', lines.join('\n'));
  }
  await pipeline.exec();
}
const names = (count: number) => Array.from({ length: count }, (_, i) => `act-${i}`);

async function verify(tenant: string) {
  const run = new ChainVerifier({ before: emptyHead });
  for (const event of await events(tenant)) run.add(event);
  return run.finish(await use.store.audit.head(tenant));
}

describe('the sealer', () => {
  it('appends what was recorded to the chain of its tenant, in order, and empties the outbox', async () => {
    await record('acme', 0, 3);
    await record('globex', 0, 2);

    expect(await new Sealer(use.store.audit).seal()).toBe(5);
    expect(await actions('acme')).toEqual(names(3));
    expect(await actions('globex')).toEqual(names(2));
    expect(await use.store.audit.outboxLength()).toBe(0);
    expect(await verify('acme')).toMatchObject({ status: 'ok', verified: 3 });
  });

  it('continues the chain of another process, and after a restart', async () => {
    const [first, second] = [new Sealer(use.store.audit), new Sealer(use.store.audit)];
    await record('acme', 0, 2);
    await first.seal();
    await record('acme', 2, 2);
    await second.seal();
    await record('acme', 4, 2);
    // Its view of the end is that of its own last append.
    await first.seal();
    await record('acme', 6, 2);
    await new Sealer(use.store.audit).seal();

    expect(await actions('acme')).toEqual(names(8));
    expect(await verify('acme')).toMatchObject({ status: 'ok', verified: 8 });
  });

  it('appends an entry once, when a process died between its append and the removal of the entry', async () => {
    await record('acme', 0, 3);
    const dying = new Sealer({
      ...methods(),
      dropOutbox: () => Promise.reject(new Error('killed')),
    });
    await expect(dying.seal()).rejects.toThrow('killed');
    await record('acme', 3, 1);

    await new Sealer(use.store.audit).seal();

    expect(await actions('acme')).toEqual(names(4));
    expect(await use.store.audit.outboxLength()).toBe(0);
  });

  it('of many processes at once appends everything once, without a fork', async () => {
    const sealers = Array.from({ length: 4 }, () => new Sealer(use.store.audit));
    await Promise.all([
      record('acme', 0, 60),
      ...sealers.map(async (sealer) => {
        for (let i = 0; i < 20; i++) await sealer.seal();
      }),
    ]);
    await Promise.all(sealers.map((sealer) => sealer.seal()));

    expect(await actions('acme')).toEqual(names(60));
    expect(await verify('acme')).toMatchObject({ status: 'ok', verified: 60 });
  });

  it('of many processes at once appends everything once, when each has several reads to append', async () => {
    await addEntries(300);

    await Promise.all(Array.from({ length: 4 }, () => new Sealer(use.store.audit).seal()));

    expect(await actions('acme')).toEqual(names(300));
    expect(await actions('globex')).toEqual(names(300));
    expect(await verify('acme')).toMatchObject({ status: 'ok', verified: 300 });
    expect(await use.store.audit.outboxLength()).toBe(0);
  });

  it.each([1, 2, 3])('continues after its append number %s failed, with nothing lost or repeated', async (failing) => {
    await addEntries(300);
    let left = failing;
    const sealer = new Sealer({
      ...methods(),
      append: (...args) => (--left === 0 ? Promise.reject(new Error('unreachable')) : use.store.audit.append(...args)),
    });

    await expect(sealer.seal()).rejects.toThrow('unreachable');
    await sealer.seal();

    expect(await actions('acme')).toEqual(names(300));
    expect(await actions('globex')).toEqual(names(300));
    expect(await verify('globex')).toMatchObject({ status: 'ok', verified: 300 });
    expect(await use.store.audit.outboxLength()).toBe(0);
  });

  it('includes what was recorded before its call, also while it is running', async () => {
    const sealer = new Sealer(use.store.audit);
    await record('acme', 0, 1);
    const running = sealer.seal();
    await record('acme', 1, 1);

    await sealer.seal();

    await running;
    expect(await actions('acme')).toEqual(names(2));
  });

  it('keeps an entry that it cannot read as text, and continues', async () => {
    const unreadable: unknown[] = [];
    await use.redis.xadd(
      use.store.keys.auditOutbox(),
      '*',
      'lines',
      'act\tacme\t1000000\t{broken\nact\tacme\t1000000\t{"event_type":"system.test","action":"whole","severity":"INFO"}',
    );
    await record('acme', 0, 1);

    await new Sealer(use.store.audit, { onUnreadable: (error) => unreadable.push(error) }).seal();

    const [first] = await events('acme');
    expect(JSON.parse(first?.text ?? '')).toMatchObject({
      event_type: 'audit.unreadable',
      severity: 'CRITICAL',
      extra: { line: 'act\tacme\t1000000\t{broken' },
    });
    expect((await actions('acme')).slice(1)).toEqual(['whole', 'act-0']);
    expect(unreadable).toHaveLength(1);
  });

  it('refuses to continue a chain whose head was overwritten', async () => {
    await use.redis.set(keys.auditHead('acme'), 'nonsense');
    await record('acme', 0, 1);

    await expect(new Sealer(use.store.audit).seal()).rejects.toThrow('verify the chain');
    expect(await use.store.audit.outboxLength()).toBe(1);
  });

  it('builds the Merkle tree over all events, across tiles', async () => {
    const lines = names(700).map((name) => `act\tacme\t1000000\t${JSON.stringify(act(name))}`);
    const sealer = new Sealer(use.store.audit);
    for (let i = 0; i < 5; i++) {
      await use.redis.xadd(use.store.keys.auditOutbox(), '*', 'lines', lines.join('\n'));
      // Two of these continue with what is stored.
      await (i % 2 === 0 ? sealer : new Sealer(use.store.audit)).seal();
    }
    const all = await events('acme');
    const tree = openTree(use.store.audit, 'acme');
    const root = await treeRoot(tree, 3_500);

    expect(all).toHaveLength(3_500);
    for (const index of [0, 1_023, 1_024, 2_047, 2_500, 3_499]) {
      const path = await inclusionProof(tree, index, 3_500);
      expect(isIncluded(leafHash(all[index]?.hash ?? ''), { index, size: 3_500, path, root })).toBe(true);
    }
  });

  it('finds an event by its number', async () => {
    await record('acme', 0, 40);
    await new Sealer(use.store.audit).seal();

    for (const seq of [1, 2, 17, 40]) {
      expect(JSON.parse((await use.store.audit.eventAt('acme', seq))?.text ?? '{}')).toMatchObject({ seq });
    }
    expect(await use.store.audit.eventAt('acme', 41)).toBeUndefined();
    expect(await use.store.audit.eventAt('globex', 1)).toBeUndefined();
  });
});

function methods() {
  const { audit } = use.store;
  return {
    append: audit.append.bind(audit),
    dropOutbox: audit.dropOutbox.bind(audit),
    end: audit.end.bind(audit),
    leaves: audit.leaves.bind(audit),
    outbox: audit.outbox.bind(audit),
  };
}
