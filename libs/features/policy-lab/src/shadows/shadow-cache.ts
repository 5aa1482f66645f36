import type { CandidateBundle } from '@svc/policy';
import type { Store } from '@svc/store';

/** A shadow policy for evaluation. */
export interface Shadow {
  shadowBundleId: string;
  /** The same object for as long as the shadow is unchanged. */
  candidate: CandidateBundle;
}

/** Caches the shadow policies of all tenants. See docs/reference/policy.md#shadow-policies. */
export class ShadowCache {
  private byTenant: ReadonlyMap<string, readonly Shadow[]> = new Map();
  private reading: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;
  private hasRead = (): void => undefined;
  /** Resolves after the first read. */
  readonly ready = new Promise<void>((resolve) => (this.hasRead = resolve));
  isRead = false;

  constructor(private readonly store: Pick<Store, 'shadows'>) {}

  /** Undefined for a tenant without shadows, which is the common case. */
  of(tenant: string): readonly Shadow[] | undefined {
    return this.byTenant.get(tenant);
  }

  /** Reloads the shadows. Only texts of new ones are read, since a rewritten shadow gets a new id. */
  refresh(): Promise<void> {
    // Serialized: otherwise an older read could finish last and win. Calls made before the next read begins share it.
    this.next ??= this.reading
      .catch(() => undefined)
      .then(() => {
        this.next = undefined;
        return this.read();
      });
    this.reading = this.next;
    return this.next;
  }

  private async read(): Promise<void> {
    const { shadows } = this.store;
    const known = new Map([...this.byTenant.values()].flat().map((shadow) => [shadow.shadowBundleId, shadow]));
    const read = await Promise.all(
      (await shadows.all()).map(async ({ tenant_id, bundle_id, shadow_bundle_id }) => {
        const same = known.get(shadow_bundle_id);
        if (same) return { tenant: tenant_id, shadow: same };
        const stored = await shadows.get(tenant_id, bundle_id);
        return stored && { tenant: tenant_id, shadow: toShadow(stored) };
      }),
    );
    const byTenant = new Map<string, Shadow[]>();
    for (const one of read) if (one) byTenant.set(one.tenant, [...(byTenant.get(one.tenant) ?? []), one.shadow]);
    this.byTenant = byTenant;
    this.isRead = true;
    this.hasRead();
  }
}

const toShadow = (stored: { shadow_bundle_id: string; bundle_id: string; content: string }): Shadow => ({
  shadowBundleId: stored.shadow_bundle_id,
  candidate: { id: stored.bundle_id, content: stored.content },
});
