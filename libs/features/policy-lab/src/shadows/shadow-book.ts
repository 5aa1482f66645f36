import type { CandidateBundle } from '@svc/policy';
import type { Store } from '@svc/store';

/** A shadow policy as it is evaluated. */
export interface Shadow {
  shadowBundleId: string;
  /** The same object as long as the shadow is the same one. */
  candidate: CandidateBundle;
}

/** The shadow policies of all tenants, as they were read last. See docs/reference/policy.md#shadow-policies. */
export class ShadowBook {
  private byTenant: ReadonlyMap<string, readonly Shadow[]> = new Map();
  private reading: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;
  private hasRead = (): void => undefined;
  /** Resolves once they were read for the first time. */
  readonly ready = new Promise<void>((resolve) => (this.hasRead = resolve));
  isRead = false;

  constructor(private readonly store: Pick<Store, 'shadows'>) {}

  /** Undefined for a tenant without any, as nearly all are. */
  of(tenant: string): readonly Shadow[] | undefined {
    return this.byTenant.get(tenant);
  }

  /** Reads them again; texts only of those that are new, since a shadow that is written again has another id. */
  refresh(): Promise<void> {
    // One after the other: else an older reading could end last and stay. Who comes before the next one began shares it.
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
        return stored && { tenant: tenant_id, shadow: shadowOf(stored) };
      }),
    );
    const byTenant = new Map<string, Shadow[]>();
    for (const one of read) if (one) byTenant.set(one.tenant, [...(byTenant.get(one.tenant) ?? []), one.shadow]);
    this.byTenant = byTenant;
    this.isRead = true;
    this.hasRead();
  }
}

const shadowOf = (stored: { shadow_bundle_id: string; bundle_id: string; content: string }): Shadow => ({
  shadowBundleId: stored.shadow_bundle_id,
  candidate: { id: stored.bundle_id, content: stored.content },
});
