import type { GlobalSection } from '@svc/contract';
import { bundleSignatureFault, type BundleRecord } from '@svc/policy';
import { History, linearized } from '@svc/testing';
import { useApi } from '../../api.testing';
import { bundleKeys } from '../../bundle-keys.testing';
import type { HttpAnswer } from '../../caller.testing';
import { policyModel, type Bundles, type PolicyAnswer, type PolicyCall } from './policy-model.testing';
import { ban, bundleCalls } from './policy.testing';

const writers = 6;
const rounds = 8;
const sections: readonly (readonly [section: GlobalSection, bundleId: string])[] = [
  ['input_rules', 'secops/global-input'],
  ['mcp_tool_rules', 'secops/global-mcp-tool'],
];

/** Concurrent reads and writes of own and shared bundles, sections, publishes and rollbacks. */
describe('concurrent policy writes', () => {
  const api = useApi();
  const { put, get, remove, list } = bundleCalls(api);
  const admin = () => api.as('admin');
  let history: History<PolicyCall, PolicyAnswer>;

  /** Makes the call and records its result; any error except conflict and not found fails the test. */
  const call = (input: PolicyCall, run: () => Promise<HttpAnswer>, read: (answer: HttpAnswer) => PolicyAnswer | Promise<PolicyAnswer> = () => ({ kind: 'done' })) =>
    history.call(input, async () => {
      const answer = await run();
      if (answer.status === 404 && answer.body['code'] === 'bundle_not_found') return { kind: 'missing' };
      if (answer.status < 300) return read(answer);
      expect(answer).toMatchObject({ status: 409, body: { code: 'POLICY_VERSION_CONFLICT' } });
      return { kind: 'conflict' };
    }); // prettier-ignore

  const write = (id: string, content: string, enabled = true) =>
    call({ kind: 'put', id, content, enabled }, () => put(id.replace('/', '~'), { content, enabled }));
  const writeSections = (content: string) =>
    call({ kind: 'put_all', contents: Object.fromEntries(sections.map(([, id]) => [id, content])) }, () =>
      admin().put('/api/v1/policy/global', { sections: Object.fromEntries(sections.map(([name]) => [name, { content }])) }),
    ); // prettier-ignore
  const drop = (id: string) => call({ kind: 'remove', id }, () => remove(id.replace('/', '~')));
  const readOne = (id: string) =>
    call({ kind: 'get', id }, () => get(id.replace('/', '~')), ({ body }) => ({ kind: 'bundles', bundles: toBundles({ [id]: body }) })); // prettier-ignore
  const readAll = () =>
    call({ kind: 'list' }, list, ({ body }) => ({ kind: 'bundles', bundles: toBundles(body['bundles']) }));
  const publish = () => call({ kind: 'publish' }, () => admin().post('/api/v1/policy/publish'), readSnapshots);
  const rollBack = (snapshot_id: unknown, target: Bundles) =>
    call({ kind: 'roll_back', target }, () => admin().post('/api/v1/policy/rollback', { snapshot_id }), readSnapshots);

  async function readSnapshots({ body }: HttpAnswer): Promise<PolicyAnswer> {
    const [before, after] = await Promise.all([body['snapshot_before'], body['snapshot_after']].map(snapshot));
    return { kind: 'changed', before, after };
  }
  async function snapshot(id: unknown): Promise<Bundles | undefined> {
    const { status, body } = await admin().get(`/api/v1/policy/bundles/snapshots/${encodeURIComponent(String(id))}`);
    return status === 200 ? toBundles(body['bundles']) : undefined;
  }

  const everyone = (run: (writer: number) => Promise<void>) =>
    Promise.all(Array.from({ length: writers }, (_, writer) => run(writer)));
  const revision = () => api.store.config.revision('system', 'policy');

  beforeEach(() => {
    history = new History();
  });

  /** Asserts that the results are linearizable, each write is counted once and every text signed. */
  async function expectSound(): Promise<void> {
    await readAll();
    expect(linearized(history.operations, policyModel)).toEqual({ ok: true });
    const isWrite = ({ input, output }: (typeof history.operations)[number]) =>
      input.kind !== 'get' && input.kind !== 'list' && (output?.kind === 'done' || output?.kind === 'changed');
    expect(await revision()).toBe(history.operations.filter(isWrite).length);
    await expectSigned();
  }
  async function expectSigned(): Promise<void> {
    const bundles = (await list()).body['bundles'] as Record<string, BundleRecord>;
    for (const { _signature, ...record } of Object.values(bundles)) {
      const signed = { ...record, ...(_signature && { _signature }) };
      expect(bundleSignatureFault(signed, new Map([['TESTS', bundleKeys.publicKey]]))).toBeUndefined();
    }
  }

  it('are linearizable', async () => {
    await everyone(async (writer) => {
      for (let round = 0; round < rounds; round++) {
        const text = ban(`w${writer}r${round}`, 'job.x');
        await write('secops/shared', text, round % 3 > 0);
        if (writer % 2 === 0) await write(`secops/own-${writer}`, text);
        else await writeSections(text);
        await readOne('secops/shared');
        if (round % 4 === writer % 4) await drop('secops/shared');
        if (round % 3 === 0) await readAll();
      }
    });

    await expectSound();
  }, 30_000);

  it('see publishes and rollbacks as atomic', async () => {
    await write('secops/draft', ban('draft', 'job.x'), false);
    const { body } = await admin().post('/api/v1/policy/bundles/snapshots');
    const target = toBundles(body['bundles']);

    await everyone(async (writer) => {
      for (let round = 0; round < rounds; round++) {
        if (writer === 0) await rollBack(body['id'], target);
        else if (writer === 1) await publish();
        else if (writer === 2) await readAll();
        else await write(`secops/own-${writer % 4}`, ban(`w${writer}r${round}`, 'job.x'), round % 2 === 0);
      }
    });

    await expectSound();
    const whole = history.operations.filter(({ output }) => output?.kind === 'changed');
    expect(whole.some(({ input, output }) => input.kind === 'publish' && output?.kind === 'changed' && output.after)).toBe(true); // prettier-ignore
    expect(whole.some(({ input, output }) => input.kind === 'roll_back' && output?.kind === 'changed' && output.after)).toBe(true); // prettier-ignore
  }, 30_000);

  it('toggle rules of one bundle without losing each other’s change', async () => {
    const rule = (writer: number) => `rule-${writer}`;
    const all = Array.from({ length: writers }, (_, i) => `  - { id: ${rule(i)}, decision: deny }\n`).join('');
    await put('secops~rules', { content: `output_rules:\n${all}` });
    const before = await revision();
    const last = new Map<string, unknown>();
    let switched = 0;

    await everyone(async (writer) => {
      for (let round = 0; round < rounds; round++) {
        const { status, body } = await admin().put(`/api/v1/policy/output/rules/${rule(writer)}`, { enabled: round % 2 > 0 }); // prettier-ignore
        if (status === 200) last.set(rule(writer), body['enabled']);
        if (status === 200) switched += 1;
        else expect({ status, code: body['code'] }).toEqual({ status: 409, code: 'POLICY_VERSION_CONFLICT' });
      }
    });

    const rules = (await admin().get('/api/v1/policy/output/rules?include_disabled=true')).body['items'] as { id: string; enabled: boolean }[]; // prettier-ignore
    for (const [id, isOn] of last) expect([id, rules.find((each) => each.id === id)?.enabled]).toEqual([id, isOn]);
    expect([switched > writers, (await revision()) - before]).toEqual([true, switched]);
    await expectSigned();
  }, 30_000);
});

const toBundles = (records: unknown): Bundles =>
  Object.fromEntries(
    Object.entries(records as Record<string, BundleRecord>).map(([id, { content, enabled }]) => [id, [content, enabled] as const]),
  ); // prettier-ignore
