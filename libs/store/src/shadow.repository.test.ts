import type { StoredShadow } from './shadow.repository';
import { useStore } from './store.testing';

const use = useStore();
const audit = (entry: string) => ({ tenant: 'acme', entry });

const shadow = (id: string, tenant = 'acme', bundle = 'secops/a'): StoredShadow => ({
  shadow_bundle_id: id,
  bundle_id: bundle,
  tenant_id: tenant,
  created_by: 'ann',
  created_at: '2026-01-01T00:00:00Z',
  activated_at: '2026-01-02T00:00:00Z',
  metadata: { why: 'to see' },
  bytes: 9,
  content: `# of ${id}`,
});
const put = (one: StoredShadow, read = '') =>
  use.store.shadows.write(one.tenant_id, one.bundle_id, { read, shadow: one, audit: audit(one.shadow_bundle_id) });
const end = (read: string, tenant = 'acme', bundle = 'secops/a') =>
  use.store.shadows.write(tenant, bundle, { read, audit: audit(`end of ${read}`) });

describe('a shadow policy', () => {
  it('is stored complete, only for its tenant and bundle', async () => {
    expect(await put(shadow('s1'))).toBe(true);

    const { content, ...head } = shadow('s1');
    expect(await use.store.shadows.get('acme', 'secops/a')).toEqual({ ...head, content });
    expect(await use.store.shadows.head('acme', 'secops/a')).toEqual(head);
    expect(await use.store.shadows.ofTenant('acme')).toEqual([head]);
    for (const [tenant, bundle] of [['globex', 'secops/a'], ['acme', 'secops/b']] as const) {
      expect(await use.store.shadows.get(tenant, bundle)).toBeUndefined();
      expect(await use.store.shadows.head(tenant, bundle)).toBeUndefined();
    }
    expect(await use.store.shadows.ofTenant('globex')).toEqual([]);
  }); // prettier-ignore

  it('is replaced, ended and audited only if unchanged since it was read', async () => {
    await put(shadow('s1'));

    expect(await put(shadow('s2'))).toBe(false);
    expect(await end('s0')).toBe(false);
    expect((await use.store.shadows.get('acme', 'secops/a'))?.content).toBe('# of s1');
    expect(await put(shadow('s3'), 's1')).toBe(true);
    expect(await end('s3')).toBe(true);

    expect(await use.store.shadows.get('acme', 'secops/a')).toBeUndefined();
    expect(await use.store.policy.audit('acme')).toEqual(['end of s3', 's3', 's1']);
  });

  it('is written by one of many concurrent writers', async () => {
    const written = await Promise.all(Array.from({ length: 20 }, (_, i) => put(shadow(`s${i}`))));

    expect(written.filter(Boolean)).toHaveLength(1);
    expect((await use.store.shadows.head('acme', 'secops/a'))?.shadow_bundle_id).toBe(`s${written.indexOf(true)}`);
  });

  it('is listed among those of all tenants until it ends, and leaves no keys', async () => {
    await put(shadow('s1'));
    await put(shadow('s2', 'acme', 'secops/b'));
    await put(shadow('s3', 'globex'));
    const ids = async () => (await use.store.shadows.all()).map(({ shadow_bundle_id }) => shadow_bundle_id).sort();
    expect(await ids()).toEqual(['s1', 's2', 's3']);

    await end('s1');
    expect(await ids()).toEqual(['s2', 's3']);
    await end('s2', 'acme', 'secops/b');
    await end('s3', 'globex');

    expect(await ids()).toEqual([]);
    expect(await use.redis.keys('svc:policy:shadow*')).toEqual([]);
  });
});
