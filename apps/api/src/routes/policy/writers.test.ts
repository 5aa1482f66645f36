import type { SnapshotView } from '@svc/contract';
import { bundleSignatureFault, type BundleRecord } from '@svc/policy';
import { useApi } from '../../api.testing';
import { bundleKeys } from '../../bundle-keys.testing';
import type { HttpAnswer } from '../../caller.testing';
import { ban, bundleCalls } from './policy.testing';

const writers = 6;
const rounds = 8;

interface Acknowledged {
  writer: number;
  what: string;
  answer: HttpAnswer;
  startedMs: number;
  endedMs: number;
}

/**
 * Many write at once, each its own bundle, its own output rule and one bundle that all share. Between them some publish and
 * roll back.
 */
describe('many who write policies at once', () => {
  const api = useApi();
  const { put, get, list } = bundleCalls(api);
  const admin = () => api.as('admin');
  const acknowledged: Acknowledged[] = [];
  const publishes: Record<'before' | 'after', SnapshotView>[] = [];
  const rollbacks: Record<'before' | 'after' | 'target', SnapshotView>[] = [];

  async function attempt(writer: number, what: string, call: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
    const startedMs = performance.now();
    const answer = await call();
    if (answer.status < 300) acknowledged.push({ writer, what, answer, startedMs, endedMs: performance.now() });
    else expect(answer).toMatchObject({ status: 409, body: { code: 'POLICY_VERSION_CONFLICT' } });
    return answer;
  }

  const rule = (writer: number) => `rule-${writer}`;
  const toggle = (writer: number, enabled: boolean) =>
    admin().put(`/api/v1/policy/output/rules/${rule(writer)}`, { enabled });
  const snapshot = async (id: unknown) =>
    (await admin().get(`/api/v1/policy/bundles/snapshots/${encodeURIComponent(String(id))}`))
      .body as unknown as SnapshotView;

  beforeEach(async () => {
    for (const log of [acknowledged, publishes, rollbacks]) log.length = 0;
    const all = Array.from({ length: writers }, (_, i) => `  - { id: ${rule(i)}, decision: deny }\n`).join('');
    await attempt(-1, 'rules', () => put('secops~rules', { content: `output_rules:\n${all}` }));
  });

  /** What a writer was last told of its own, by what it did. */
  const lastOf = (writer: number, what: string): Acknowledged | undefined =>
    acknowledged.filter((each) => each.writer === writer && each.what === what).at(-1);
  const revision = () => api.store.config.revision('system', 'policy');

  async function write(writer: number, round: number): Promise<void> {
    const marker = `w${writer}r${round}`;
    switch ((writer + round) % 4) {
      case 0:
        return void (await attempt(writer, 'own', () =>
          put(`secops~own-${writer}`, { content: ban(marker, 'job.x') }),
        ));
      case 1:
        return void (await attempt(writer, marker, () => put('secops~shared', { content: ban(marker, 'job.x') })));
      case 2:
        return void (await attempt(writer, `toggle ${round % 8 < 4}`, () => toggle(writer, round % 8 < 4)));
      default: {
        const sections = {
          input_rules: { content: ban(marker, 'job.x') },
          mcp_tool_rules: { content: ban(marker, 'job.x') },
        };
        return void (await attempt(writer, 'global', () => admin().put('/api/v1/policy/global', { sections })));
      }
    }
  }

  async function publish(writer: number): Promise<void> {
    const { status, body } = await attempt(writer, 'publish', () => admin().post('/api/v1/policy/publish'));
    if (status !== 200) return;
    const [before, after] = await Promise.all([snapshot(body['snapshot_before']), snapshot(body['snapshot_after'])]);
    if (before?.bundles && after?.bundles) publishes.push({ before, after });
  }

  async function rollBack(writer: number, target: SnapshotView): Promise<void> {
    const call = () => admin().post('/api/v1/policy/rollback', { snapshot_id: target.id });
    const { status, body } = await attempt(writer, 'rollback', call);
    if (status !== 200) return;
    const [before, after] = await Promise.all([snapshot(body['snapshot_before']), snapshot(body['snapshot_after'])]);
    if (before && after) rollbacks.push({ before, after, target });
  }

  const everyone = (run: (writer: number) => Promise<void>) =>
    Promise.all(Array.from({ length: writers }, (_, writer) => run(writer)));

  async function expectSound(): Promise<void> {
    // Two writes on top of the same text would be acknowledged twice and counted once.
    expect(await revision()).toBe(acknowledged.length);
    for (const { _signature, ...record } of Object.values(
      (await list()).body['bundles'] as Record<string, BundleRecord>,
    )) {
      const signed = { ...record, ...(_signature && { _signature }) };
      expect(bundleSignatureFault(signed, new Map([['TESTS', bundleKeys.publicKey]]))).toBeUndefined();
    }
  }

  it('lose no write that was acknowledged, and the revision counts each', async () => {
    await everyone(async (writer) => {
      for (let round = 0; round < rounds; round++) await write(writer, round);
      await publish(writer);
    });

    await expectSound();
    expect(acknowledged.length).toBeGreaterThan(writers);
    const rules = (await admin().get('/api/v1/policy/output/rules?include_disabled=true')).body['items'] as {
      id: string;
      enabled: boolean;
    }[];
    for (let writer = 0; writer < writers; writer++) {
      const own = lastOf(writer, 'own');
      if (own) expect((await get(`secops~own-${writer}`)).body['sha256']).toBe(own.answer.body['sha256']);
      const toggled = acknowledged.filter((each) => each.writer === writer && each.what.startsWith('toggle')).at(-1);
      const isOn = rules.find(({ id }) => id === rule(writer))?.enabled;
      expect([writer, isOn]).toEqual([writer, toggled ? toggled.answer.body['enabled'] : true]);
    }
  }, 30_000);

  it('what all share is what one of the last was told, whole', async () => {
    await everyone(async (writer) => {
      for (let round = 0; round < rounds; round++) {
        const marker = `w${writer}r${round}`;
        await attempt(writer, marker, () => put('secops~shared', { content: ban(marker, 'job.x') }));
        await write(writer, 3 - writer + 4 * round);
      }
    });

    await expectSound();
    const { content } = (await get('secops~shared')).body;
    const shared = acknowledged.filter(({ what }) => /^w\d+r\d+$/.test(what));
    const standing = shared.find(({ what }) => content === ban(what, 'job.x'));
    const overwritten = shared.some(({ startedMs }) => startedMs > (standing?.endedMs ?? Infinity));
    expect([standing?.what, overwritten]).toEqual([expect.stringMatching(/^w/), false]);
    const sections = (await admin().get('/api/v1/policy/global')).body['sections'] as Record<
      string,
      { content: string }
    >;
    expect(sections['mcp_tool_rules']?.content).toBe(sections['input_rules']?.content);
  }, 30_000);

  it('find that publishing and rolling back changed everything at once and nothing else', async () => {
    await put('secops~draft', { content: ban('draft', 'job.x'), enabled: false });
    acknowledged.push({ writer: -1, what: 'draft', answer: await get('secops~draft'), startedMs: 0, endedMs: 0 });
    const target = (await admin().post('/api/v1/policy/bundles/snapshots')).body as unknown as SnapshotView;

    await everyone(async (writer) => {
      for (let round = 0; round < rounds; round++) {
        if (writer === 0) await rollBack(writer, target);
        else if (writer === 1) await publish(writer);
        else await write(writer, round);
      }
    });

    await expectSound();
    expect(Math.min(rollbacks.length, publishes.length)).toBeGreaterThan(0);
    const texts = ({ bundles }: SnapshotView) => Object.entries(bundles).map(([id, { content }]) => [id, content]);
    for (const { after, target: aim } of rollbacks) expect(texts(after)).toEqual(texts(aim));
    for (const { before, after } of publishes) {
      expect(texts(after)).toEqual(texts(before));
      expect(Object.values(after.bundles).every(({ enabled }) => enabled)).toBe(true);
    }
  }, 30_000);
});
