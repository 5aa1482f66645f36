import type { ConfigDocument } from './config.repository';
import type { PolicySnapshot } from './policy.repository';
import { useStore } from './store.testing';

const use = useStore();
const dayUs = 86_400_000_000;

const document = (revision: number, bundles: object = {}): ConfigDocument => ({
  scope: 'system',
  scope_id: 'policy',
  data: { bundles },
  revision,
  updated_at: '',
  meta: {},
});
const snapshot = (id: string): PolicySnapshot => ({
  id,
  created_at: `at ${id}`,
  note: `of ${id}`,
  bundles: { [id]: {} },
});
const ids = async () => (await use.store.policy.snapshots()).map(({ id }) => id);
const keep = (nowUs: number, taken: string[], held: string[] = []) =>
  use.store.policy.keep({ nowUs, taken: taken.map(snapshot), held });

describe('writing the policy document', () => {
  const write = (revision: number, read: number, taken: string[] = []) =>
    use.store.policy.replace(document(revision, { a: {} }), read, { nowUs: revision, taken: taken.map(snapshot) });

  it('writes the document with its snapshots, or neither', async () => {
    expect(await write(1, 0, ['before', 'after'])).toBe(true);
    expect(await write(2, 0, ['late'])).toBe(false);

    expect(await use.store.config.documents([['system', 'policy']])).toEqual([document(1, { a: {} })]);
    expect(await use.store.config.revision('system', 'policy')).toBe(1);
    expect(await use.store.policy.snapshots()).toEqual([
      { id: 'after', created_at: 'at after', note: 'of after' },
      { id: 'before', created_at: 'at before', note: 'of before' },
    ]);
    expect(await use.store.policy.snapshot('before')).toEqual(snapshot('before'));
    expect(await use.store.policy.snapshot('late')).toBeUndefined();
  });

  it('succeeds for one of many concurrent writers of the same revision', async () => {
    const written = await Promise.all(Array.from({ length: 20 }, (_, i) => write(1, 0, [`s${i}`])));

    expect(written.filter(Boolean)).toHaveLength(1);
    expect(await ids()).toEqual([`s${written.indexOf(true)}`]);
  });
});

describe('policy snapshots', () => {
  it('are limited to the newest ten; the others leave no keys', async () => {
    for (let i = 0; i < 12; i++) await keep(i, [`s${i}`]);

    expect(await ids()).toEqual(['s11', 's10', 's9', 's8', 's7', 's6', 's5', 's4', 's3', 's2']);
    expect(await use.store.policy.snapshot('s1')).toBeUndefined();
    const sizes = [use.redis.hlen('svc:policy:snapshots:heads'), use.redis.hlen('svc:policy:snapshots:bodies')];
    expect(await Promise.all(sizes)).toEqual([10, 10]);
  });

  it('are kept for a day beyond the limit if held', async () => {
    await keep(0, ['old', 'older']);
    await keep(1, ['back'], ['old', 'unknown']);
    for (let i = 2; i < 14; i++) await keep(i, [`s${i}`]);

    expect((await ids()).slice(10)).toEqual(['old']);

    await keep(dayUs - 1_000, ['next']);
    expect((await ids()).slice(10)).toEqual(['old']);
    await keep(dayUs + 1_000, ['last']);
    expect(await ids()).toHaveLength(10);
    expect(await use.store.policy.snapshot('old')).toBeUndefined();
  });

  it('are limited to a hundred, including held ones', async () => {
    for (let i = 0; i < 105; i++) await keep(i, [`s${i}`], [`s${i}`]);

    expect(await ids()).toHaveLength(100);
    expect(await ids()).not.toContain('s4');
  });

  it('are identified by their id', async () => {
    await keep(1, ['a']);
    await keep(2, ['a', 'b']);

    expect(await ids()).toEqual(['b', 'a']);
  });
});

describe('the policy audit', () => {
  it('keeps the newest 500 of each tenant, newest first', async () => {
    for (let i = 0; i < 503; i++) await use.store.policy.recordAudit('acme', `${i}`);
    await use.store.policy.recordAudit('globex', 'other');

    const entries = await use.store.policy.audit('acme');
    expect([entries.length, entries[0], entries.at(-1)]).toEqual([500, '502', '3']);
    expect(await use.store.policy.audit('globex')).toEqual(['other']);
    expect(await use.store.policy.audit('unknown')).toEqual([]);
  });

  it('stores calls separately from changes, the newest 500 of them', async () => {
    await use.store.policy.recordAudit('acme', 'change');
    for (let i = 0; i < 503; i++) await use.store.policy.recordCall('acme', `${i}`);

    const calls = await use.store.policy.calls('acme');
    expect([calls.length, calls[0], calls.at(-1)]).toEqual([500, '502', '3']);
    expect(await use.store.policy.audit('acme')).toEqual(['change']);
    expect(await use.store.policy.calls('globex')).toEqual([]);
  });

  it('records a change in the same write, within its size limit', async () => {
    for (let i = 0; i < 500; i++) await use.store.policy.recordAudit('acme', `${i}`);
    const change = (revision: number, entry: string) =>
      use.store.policy.replace(document(revision, {}), 0, { nowUs: 1, taken: [], audit: { tenant: 'acme', entry } });

    const written = [await change(1, 'first'), await change(2, 'late')];
    await use.store.policy.keep({ nowUs: 2, taken: [snapshot('s')], audit: { tenant: 'acme', entry: 'kept' } });

    const entries = await use.store.policy.audit('acme');
    expect([written, entries.length, entries.slice(0, 3)]).toEqual([[true, false], 500, ['kept', 'first', '499']]);
  });
});
