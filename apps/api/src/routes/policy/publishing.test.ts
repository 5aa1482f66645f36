import { bundleSignatureFault, type BundleRecord } from '@svc/policy';
import { eventually } from '@svc/testing';
import { useApi } from '../../api.testing';
import { bundleKeys } from '../../bundle-keys.testing';
import { statusAndCode } from '../../caller.testing';
import { ban, bundleCalls, storeBundles } from './policy.testing';

const denied = { status: 403, code: 'tenant_access_denied' };
const invalid = { status: 400, code: 'POLICY_VALIDATION_FAILED' };
const trusted = new Map([['TESTS', bundleKeys.publicKey]]);

function publishing(api: ReturnType<typeof useApi>) {
  const admin = () => api.as('admin');
  return {
    ...bundleCalls(api),
    publish: (body?: object, as = admin()) => as.post('/api/v1/policy/publish', body),
    rollback: (body: object, as = admin()) => as.post('/api/v1/policy/rollback', body),
    take: (note?: string, as = admin()) =>
      as.post('/api/v1/policy/bundles/snapshots', note === undefined ? undefined : { note }),
    snapshots: async () =>
      (await admin().get('/api/v1/policy/bundles/snapshots')).body['items'] as { id: string; note: string }[],
    snapshot: (id: string) => admin().get(`/api/v1/policy/bundles/snapshots/${encodeURIComponent(id)}`),
    audit: async (action: string) =>
      (await admin().get(`/api/v1/policy/audit?action=${action}`)).body['items'] as Record<string, unknown>[],
  };
}

describe('snapshots of policy bundles', () => {
  const api = useApi();
  const { put, take, snapshots, snapshot, audit, content } = publishing(api);

  it('200: a snapshot contains every bundle, including drafts', async () => {
    await put('secops~a', { content: content('a') });
    await put('secops~b', { content: content('b'), enabled: false });

    const { status, body } = await take('before the weekend');
    await put('secops~a', { content: content('c') });

    expect(status).toBe(200);
    expect(body['id']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ-[0-9a-f]{10}$/);
    expect((await snapshot(String(body['id']))).body).toEqual(body);
    expect(body).toMatchObject({
      note: 'before the weekend',
      bundles: { 'secops/a': { content: expect.stringContaining('job.a') }, 'secops/b': { enabled: false } },
    });
    expect(await snapshots()).toEqual([{ id: body['id'], created_at: body['created_at'], note: 'before the weekend' }]);
    expect(await audit('snapshot')).toMatchObject([{ snapshot_after: body['id'], message: 'before the weekend' }]);
  });

  it('200: the newest ten are kept, newest first', async () => {
    for (let i = 0; i < 12; i++) {
      await put('secops~a', { content: content(`a${i}`) });
      await take(`n${i}`);
    }

    const kept = Array.from({ length: 10 }, (_, i) => `n${11 - i}`);
    expect((await snapshots()).map(({ note }) => note)).toEqual(kept);
  });

  it('403: admins of other tenants; 404 snapshot_not_found', async () => {
    expect(statusAndCode(await take('x', api.as('other')))).toEqual(denied);
    expect(statusAndCode(await snapshot('2026-01-01T00:00:00Z-0123456789'))).toEqual({
      status: 404,
      code: 'snapshot_not_found',
    });
  });
});

describe('POST /api/v1/policy/publish', () => {
  const api = useApi();
  const { put, get, publish, snapshot, audit, content, submit } = publishing(api);

  it('200: all operator drafts take effect atomically, with snapshots before and after', async () => {
    await put('secops~invariants', { content: ban('no-echo', 'job.demo.echo'), enabled: false, message: 'drafted' });
    await put('secops~b', { content: content('b'), enabled: false });

    const { status, body } = await publish({ author: 'crew', message: 'go', note: 'tuesday' });

    expect({ status, published: body['published'] }).toEqual({
      status: 200,
      published: ['secops/b', 'secops/invariants'],
    });
    await eventually(async () => expect((await submit('job.demo.echo')).status).toBe(403));
    const [before, after] = await Promise.all(
      [body['snapshot_before'], body['snapshot_after']].map(String).map(snapshot),
    );
    expect(before?.body).toMatchObject({
      note: 'tuesday',
      bundles: { 'secops/b': { enabled: false } },
    });
    expect(after?.body).toMatchObject({ bundles: { 'secops/b': { enabled: true, author: 'ann', message: 'go' } } });
    expect(bundleSignatureFault((await get('secops~b')).body as unknown as BundleRecord, trusted)).toBeUndefined();
    expect(await audit('publish')).toMatchObject([
      {
        bundle_ids: ['secops/b', 'secops/invariants'],
        message: 'go',
        snapshot_before: body['snapshot_before'],
        snapshot_after: body['snapshot_after'],
      },
    ]);
  });

  it('200: only the named drafts; bundles in effect are unchanged', async () => {
    await put('secops~a', { content: content('a') });
    await put('secops~b', { content: content('b'), enabled: false });
    const a = (await get('secops~a')).body;

    const { body } = await publish({ bundle_ids: ['secops/a'] });

    expect(body['published']).toEqual(['secops/a']);
    expect((await get('secops~a')).body).toEqual(a);
    expect((await get('secops~b')).body['enabled']).toBe(false);
  });

  it('400: nothing to publish, an unknown bundle, one of other owners, and one that is no longer valid', async () => {
    expect(statusAndCode(await publish())).toEqual(invalid);
    expect(statusAndCode(await publish({ bundle_ids: [] }))).toEqual(invalid);
    expect((await publish({ bundle_ids: ['secops/x'] })).body).toMatchObject({
      code: 'POLICY_VALIDATION_FAILED',
      violations: [{ field: 'bundle_ids' }],
    });
    await storeBundles(api, {
      'pack/a': { content: 'rules: []', enabled: false },
      'secops/a': { content: 'rules: [', enabled: false },
    });
    expect(statusAndCode(await publish({ bundle_ids: ['pack/a'] }))).toEqual({
      status: 400,
      code: 'bundle_not_writable',
    });
    expect(statusAndCode(await publish())).toEqual(invalid);
  });

  it('403: admins of other tenants', async () => {
    expect(statusAndCode(await publish({}, api.as('other')))).toEqual(denied);
  });
});

describe('POST /api/v1/policy/rollback', () => {
  const api = useApi();
  const { put, get, list, remove, publish, rollback, take, snapshots, audit, content, submit } = publishing(api);

  it('200: operator bundles are restored atomically; others are unchanged', async () => {
    await storeBundles(api, { 'pack/a': { content: 'rules: []' }, 'velocity/v': { content: content('v') } });
    await put('secops~invariants', { content: ban('no-echo', 'job.demo.echo') });
    await put('secops~gone', { content: content('gone') });
    const target = String((await take()).body['id']);
    const was = (await get('secops~invariants')).body;
    await remove('secops~gone');
    await put('secops~invariants', { content: ban('no-render', 'job.demo.none') });
    await put('secops~new', { content: content('new') });
    const { bundles } = (await list()).body as { bundles: Record<string, object> };
    await storeBundles(api, {
      ...bundles,
      'pack/a': { content: 'rules: []', version: '2' },
      'velocity/v': { content: content('w') },
    });
    await eventually(async () => expect((await submit('job.demo.echo')).status).toBe(200));

    const { status, body } = await rollback({ snapshot_id: target, message: 'it was wrong', note: 'undo' });

    expect({ status, to: body['rollback_to'] }).toEqual({ status: 200, to: target });
    await eventually(async () => expect((await submit('job.demo.echo')).status).toBe(403));
    const now = (await list()).body['bundles'] as Record<string, BundleRecord>;
    expect(Object.keys(now)).toEqual(['pack/a', 'secops/gone', 'secops/invariants', 'velocity/v']);
    expect(now['pack/a']?.version).toBe('2');
    expect(now['velocity/v']?.content).toBe(content('v'));
    expect(now['secops/invariants']).toMatchObject({ content: was['content'], sha256: was['sha256'] });
    for (const id of ['secops/invariants', 'velocity/v'])
      expect(bundleSignatureFault(now[id] ?? { content: '', enabled: true }, trusted)).toBeUndefined();
    expect(await audit('rollback')).toMatchObject([
      {
        resource_id: target,
        message: 'it was wrong',
        snapshot_before: body['snapshot_before'],
        snapshot_after: body['snapshot_after'],
        extra: { rollback_to: target },
      },
    ]);
  });

  it('200: can be rolled back again; referenced snapshots are kept', async () => {
    await put('secops~a', { content: content('one') });
    const { body } = await publish();
    await put('secops~a', { content: content('two') });

    const undone = (await rollback({ snapshot_id: String(body['snapshot_after']) })).body;
    for (let i = 0; i < 11; i++) {
      await put('secops~b', { content: content(`b${i}`) });
      await take(`n${i}`);
    }

    const named = [body['snapshot_after'], undone['snapshot_before']];
    expect((await snapshots()).map(({ id }) => id)).toEqual(expect.arrayContaining(named));
    expect((await rollback({ snapshot_id: String(undone['snapshot_before']) })).status).toBe(200);
    expect((await get('secops~a')).body['content']).toContain('job.two');
  });

  it('400: a snapshot with altered or no longer valid texts', async () => {
    for (const bad of [
      { 'secops/a': { content: 'rules: []', sha256: '0'.repeat(64) } },
      { 'secops/a': { content: 'rules: [' } },
    ]) {
      await storeBundles(api, bad);
      const { body } = await take();
      await storeBundles(api, {});

      expect(statusAndCode(await rollback({ snapshot_id: String(body['id']) }))).toEqual(invalid);
      expect((await list()).body['items']).toEqual([]);
    }
  });

  it('403: admins of other tenants; more bundles than the plan allows; 404 snapshot_not_found', async () => {
    await put('secops~a', { content: content('a') });
    await put('secops~b', { content: content('b') });
    const { body } = await take();
    await remove('secops~a');
    api.license('enterprise', { max_policy_bundles: 1 });

    expect(statusAndCode(await rollback({ snapshot_id: String(body['id']) }))).toEqual({
      status: 403,
      code: 'tier_limit_exceeded',
    });
    expect(statusAndCode(await rollback({ snapshot_id: String(body['id']) }, api.as('other')))).toEqual(denied);
    expect(statusAndCode(await rollback({ snapshot_id: 'x' }))).toEqual({ status: 404, code: 'snapshot_not_found' });
  });
});

describe('a gateway without a key to sign with', () => {
  const api = useApi({ env: { SVC_POLICY_SIGNING_KEY: '' } });
  const { publish, rollback, take } = publishing(api);

  it('503 POLICY_SIGNING_REQUIRED: on publish and rollback', async () => {
    await storeBundles(api, { 'secops/a': { content: 'rules: []', enabled: false } });
    const { body } = await take();
    const refused = { status: 503, code: 'POLICY_SIGNING_REQUIRED' };

    expect([
      statusAndCode(await publish()),
      statusAndCode(await rollback({ snapshot_id: String(body['id']) })),
    ]).toEqual([refused, refused]);
  });
});

describe('a gateway whose kernels require signed bundles', () => {
  const api = useApi({ env: { SVC_POLICY_STRICT: 'enforce' } });
  const { put, list, rollback, take, content } = publishing(api);

  it('400: a rollback to unsigned bundles, or to bundles with an untrusted signature', async () => {
    await put('secops~a', { content: content('a') });
    const good = (await take()).body;
    const { bundles } = (await list()).body as { bundles: Record<string, { _signature: object }> };
    const stranger = { ...bundles['secops/a']?._signature, key_id: 'stranger' };
    for (const signature of [{ _signature: undefined }, { _signature: stranger }]) {
      await storeBundles(api, { 'secops/a': { ...bundles['secops/a'], ...signature } });
      const { body } = await take();

      expect(statusAndCode(await rollback({ snapshot_id: String(body['id']) }))).toEqual(invalid);
    }
    expect((await rollback({ snapshot_id: String(good['id']) })).status).toBe(200);
  });
});
