import { useRedisStore } from '@svc/fixtures/store';
import { keys, runScript } from '@svc/store';
import { plainRequest, eventually } from '@svc/testing';
import { HoldSweep } from './sweep-holds';

const use = useRedisStore();
const retention = { dataSec: 600, metaSec: 3_600 };
const act = { event_type: 'legal_hold.created', action: 'legal_hold.created', severity: 'HIGH' } as const;
const actor = { tenant: 'acme', act };

const swept: [string, number][] = [];
let sweeper: HoldSweep;
let skipMs = 0;
beforeAll(() => {
  sweeper = new HoldSweep({
    holds: use.store.legalHolds,
    clock: { nowMs: () => Date.now() + skipMs },
    onSwept: (kind, records) => void swept.push([kind, records]),
  });
});
beforeEach(() => {
  swept.length = 0;
  skipMs = 0;
});
const sweep = () => sweeper.run();
const hold = (tenant = 'acme') =>
  use.store.legalHolds.create(
    { id: `hold-of-${tenant}`, tenant_id: tenant, reason: 'r', created_by: 'ann', created_at: '2026-01-01T00:00:00Z' },
    1,
    actor,
  );
const release = (tenant = 'acme') =>
  use.store.legalHolds.release(
    '*',
    `hold-of-${tenant}`,
    { releasedAt: '2026-01-02T00:00:00Z', releasedBy: 'ann' },
    actor,
  );

/** A job that ended, with everything that a job has. @returns the keys that expire */
async function endJob(id: string, tenant: string): Promise<string[]> {
  const { store, redis } = use;
  await store.jobs.accept({
    id,
    tenant,
    traceId: `trace-of-${id}`,
    topic: 'job.default',
    fields: { request: plainRequest, submitter: 's', job_hash: 'h' },
    context: '{"prompt":"hi"}',
    priority: 10,
    activeLimit: 0,
  });
  // As a worker writes it.
  await redis.set(keys.result(id), '{"answer":42}', 'EX', retention.dataSec);
  const letter = JSON.stringify({ job_id: id, tenant, created_at: '2026-01-01T00:00:00Z' });
  const deadLetter = { body: letter, ttl_sec: 7_200, topic: 'job.default', reason: 'r' };
  const moved = await store.jobs.move('*', id, 'cancel', { set: { result_ptr: `redis://res:${id}` }, deadLetter });
  expect(moved.kind).toBe('moved');
  const redacted = await store.data.writeRedacted(id, 'a'.repeat(64), Buffer.from('{}'));
  const uploaded = await store.data.writeUploadedResult(id, 'b'.repeat(64), Buffer.from('{}'));
  const others = [redacted, uploaded].map((pointer) => pointer.slice('redis://'.length));
  return [
    keys.job(id),
    keys.context(id),
    keys.result(id),
    keys.deadLetter(id),
    keys.trace(`trace-of-${id}`),
    ...others,
  ];
}

async function endRun(id: string, tenant: string): Promise<string[]> {
  const { store } = use;
  const workflow = `flow-of-${tenant}`;
  await store.workflows.write({ tenant, id: workflow, document: { id: workflow }, by: 'ann' });
  await store.runs.create({
    id,
    tenant,
    workflow: { id: workflow, version: 1 },
    header: {},
    steps: new Map([['weigh', { status: 'pending' }]]),
    events: [{ type: 'run_status', status: 'pending' }],
    limits: { tenant: 0, all: 0 },
    start: { kind: 'start' },
  });
  await store.lease(keys.runLock(id), 'me', 60_000).hold();
  const status = { to: 'succeeded', keepSec: 1_800 } as const;
  expect(await store.runs.save({ id, revision: 1, owner: 'me', token: 't', status })).toMatchObject({ kind: 'saved' });
  return [keys.run(id), keys.runSteps(id), keys.runTimeline(id)];
}

async function putArtifact(id: string, tenant: string): Promise<string[]> {
  const meta = { size_bytes: 2, retention: 'short', labels: {}, created_at: '2026-01-01T00:00:00Z', tenant } as const;
  await use.store.data.writeArtifact(id, Buffer.from('{}'), meta, 900);
  return [keys.artifact(id), keys.artifactMeta(id)];
}

const giveAll = async (tenant: string) =>
  (
    await Promise.all([
      endJob(`job-of-${tenant}`, tenant),
      endRun(`run-of-${tenant}`, tenant),
      putArtifact(`art-of-${tenant}`, tenant),
    ])
  ).flat();
/** When each key expires, Unix ms; -1 = never, -2 = it does not exist. */
const expiries = (names: readonly string[]) => Promise.all(names.map((name) => use.redis.pexpiretime(name)));
const never = (names: readonly string[]) => names.map(() => -1);
const gone = (names: readonly string[]) => names.map(() => -2);

describe('a legal hold', () => {
  it('takes the expiry from all records of the tenant, and the release restores it', async () => {
    const [held, free] = [await giveAll('acme'), await giveAll('globex')];
    const [before, beforeFree] = [await expiries(held), await expiries(free)];
    expect(before.every((at) => at > Date.now())).toBe(true);

    await hold();
    await sweep();

    expect(await expiries(held)).toEqual(never(held));
    expect(await expiries(free)).toEqual(beforeFree);
    expect(await use.redis.hlen(keys.holdSweeps())).toBe(0);

    await release();
    await sweep();

    expect(await expiries(held)).toEqual(before);
    expect(await expiries(free)).toEqual(beforeFree);
    expect(await use.redis.exists(keys.heldExpiries('acme'), keys.holdSweeps())).toBe(0);
    expect(swept).toEqual([
      ['freeze', held.length],
      ['thaw', held.length],
    ]);
  });

  it('keeps records past their retention, which then end with the hold', async () => {
    const held = await giveAll('acme');
    const free = await giveAll('globex');
    const soonMs = Date.now() + 1_500;
    for (const name of [...held, ...free]) await use.redis.pexpireat(name, soonMs);

    await hold();
    await sweep();
    await eventually(async () => expect(await expiries(free)).toEqual(gone(free)));

    expect(await expiries(held)).toEqual(never(held));
    expect(await use.store.jobs.load('job-of-acme')).toMatchObject({ state: 'CANCELLED' });
    await release();
    await sweep();
    expect(await expiries(held)).toEqual(gone(held));
  });

  it('lets no record that is written under it expire', async () => {
    await hold();
    const held = await giveAll('acme');
    expect(await expiries(held)).toEqual(never(held));

    await release();
    await sweep();

    for (const at of await expiries(held)) expect(at).toBeGreaterThan(Date.now());
    expect(await expiries([keys.job('job-of-acme')])).toEqual([
      expect.closeTo(Date.now() + retention.metaSec * 1_000, -5),
    ]);
  });

  it('finds, at the next pass, a document that a worker wrote with an expiry', async () => {
    await hold();
    await sweep();
    await endJob('j', 'acme');
    await use.redis.set('res:j:part', '{}', 'EX', 600);
    await sweep();
    expect(await use.redis.pexpiretime('res:j:part')).toBeGreaterThan(0);

    skipMs = 600_000;
    await sweep();

    expect(await use.redis.pexpiretime('res:j:part')).toBe(-1);
  });

  it('is applied when it was created by a version that did not keep these records', async () => {
    const held = await giveAll('acme');
    await use.redis.hset(keys.legalHoldsActive(), 'acme', 'h1');
    await sweep();
    expect(await expiries(held)).toEqual(never(held));

    await use.redis.hdel(keys.legalHoldsActive(), 'acme');
    await sweep();

    for (const at of await expiries(held)) expect(at).toBeGreaterThan(Date.now());
  });

  it('is swept by the next process when one died in between, in both directions', async () => {
    for (let i = 0; i < 30; i++) await endJob(`j${i}`, 'acme');
    const names = Array.from({ length: 30 }, (_, i) => keys.job(`j${i}`));
    await hold();
    // One page, and no more.
    const { names: page } = await use.store.legalHolds.scan('0', 10);
    await use.store.legalHolds.freeze(page);
    await sweep();
    expect(await expiries(names)).toEqual(never(names));

    await release();
    await use.store.legalHolds.thaw('acme', 10);
    await sweep();
    for (const at of await expiries(names)) expect(at).toBeGreaterThan(Date.now());
  });

  it('that begins again before the release is swept keeps everything', async () => {
    const held = await giveAll('acme');
    await hold();
    await sweep();
    await release();
    await use.store.legalHolds.thaw('acme', 3);

    await use.store.legalHolds.create(
      { id: 'second', tenant_id: 'acme', reason: 'r', created_by: 'ann', created_at: '2026-01-03T00:00:00Z' },
      1,
      actor,
    );
    expect(await use.store.legalHolds.thaw('acme', 100)).toBeUndefined();
    await sweep();

    expect(await expiries(held)).toEqual(never(held));
  });

  it('keeps runs and their indexes; they are neither deleted nor forgotten', async () => {
    await hold();
    await endRun('r', 'acme');
    const { runs, runIndex } = use.store;

    expect(await runs.remove('*', 'r')).toEqual({ kind: 'held' });
    expect(await runIndex.forget(Date.now() + 10 * 1_800_000, 10)).toBe(1);
    expect(await use.redis.exists(keys.run('r'), keys.runTimeline('r'))).toBe(2);
    expect(await use.redis.zcard(keys.runsCreated('acme', 'flow-of-acme'))).toBe(1);

    await release();
    await runIndex.forget(Date.now() + 20 * 1_800_000, 10);
    expect(await use.redis.exists(keys.run('r'))).toBe(0);
    expect(await use.redis.zcard(keys.runsCreated('acme', 'flow-of-acme'))).toBe(0);
  });

  it('keeps removed dead letters, outside of the queue', async () => {
    await hold();
    await endJob('j', 'acme');
    await use.store.deadLetters.remove('acme', 'j');

    expect(await use.store.deadLetters.get('*', 'j')).toBeUndefined();
    expect(JSON.parse((await use.redis.get(keys.deadLetterKept('j'))) ?? '')).toMatchObject({ job_id: 'j' });

    await release();
    await sweep();
    await eventually(async () => expect(await use.redis.exists(keys.deadLetterKept('j'))).toBe(0));
  });

  it('keeps all messages of a chat, which is limited otherwise', async () => {
    await endJob('held', 'acme');
    await endJob('free', 'globex');
    await hold();
    const { redis } = use.store;
    for (const id of ['held', 'free']) {
      await runScript(redis, 'addMessages', keys.messages(id), keys.messagesDropped(id), 2, '', id, 'a', 'b', 'c');
    }

    expect(await redis.llen(keys.messages('held'))).toBe(3);
    expect(await redis.llen(keys.messages('free'))).toBe(2);
  });

  it('does not outlive a workflow that was removed under it and written again after its release', async () => {
    const { workflows } = use.store;
    await endRun('r', 'acme');
    await hold();
    await workflows.remove('*', 'flow-of-acme', 1_800);
    expect(await use.redis.zscore(keys.heldExpiries('acme'), keys.workflow('flow-of-acme'))).not.toBeNull();
    await release();
    await workflows.write({ tenant: 'acme', id: 'flow-of-acme', document: { id: 'again' }, by: 'ann' });
    await sweep();

    expect(await use.redis.pexpiretime(keys.workflow('flow-of-acme'))).toBe(-1);
  });
});
