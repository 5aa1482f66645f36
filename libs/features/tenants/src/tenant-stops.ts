import type { TenantRepository } from '@svc/store';

/** Tenants that are suspended or being deleted, as this process last read them. */
export class TenantStops {
  private stopped: ReadonlySet<string> = new Set();
  private version: string | undefined;

  /** @param onChanged called after a change was read, so that open streams are checked */
  constructor(
    private readonly tenants: Pick<TenantRepository, 'version' | 'stopped'>,
    private readonly onChanged: () => void,
  ) {}

  readonly has = (tenant: string): boolean => this.stopped.has(tenant);

  /** One small read; a second one after a change. While Redis is unavailable the last state stays in effect. */
  readonly sync = async (): Promise<void> => {
    // Read first, so that a concurrent change is read again.
    const version = await this.tenants.version();
    if (version === this.version) return;
    this.stopped = new Set(await this.tenants.stopped());
    this.version = version;
    this.onChanged();
  };
}
