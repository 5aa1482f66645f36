import { everyTenant, type AuditAct, type LegalHold, type TenantScope } from '@svc/contract';
import type { Redis } from 'ioredis';
import { keys, type Keys } from './keys';
import { runScript } from './scripts';

/** Who changes a hold, and how the change is recorded in the audit chain. */
export interface HoldActor {
  tenant: string;
  act: AuditAct;
}

/** Sweeps that are returned at once. */
const MAX_SWEEPS = 1_000;

export type ReleaseOutcome = { kind: 'released'; tenant: string } | { kind: 'repeated' | 'missing' };

/** Legal holds: while a tenant has an active one, none of its records expires. See docs/reference/audit.md#legal-holds. */
export class LegalHoldRepository {
  private readonly families: readonly string[];

  constructor(
    private readonly redis: Redis,
    private readonly own: Keys,
  ) {
    const { job, jobEvents, context, result, trace, deadLetter, artifactMeta, runEvents, run, workflow } = own;
    const builders = [job, jobEvents, context, result, trace, deadLetter, artifactMeta, runEvents, run, workflow];
    this.families = builders.map((build) => build(''));
  }

  /** @param createdUs time of creation, µs */
  async create(hold: LegalHold, createdUs: number, { tenant, act }: HoldActor): Promise<'created' | 'exists'> {
    const args = [hold.tenant_id, hold.id, JSON.stringify(hold), createdUs, tenant, JSON.stringify(act)];
    const reply = await runScript(this.redis, 'createLegalHold', keys.legalHoldsActive(), ...args);
    return (reply as ['created' | 'exists'])[0];
  }

  /** @param releasedAt RFC 3339 */
  async release(
    scope: TenantScope,
    id: string,
    { releasedAt, releasedBy }: { releasedAt: string; releasedBy: string },
    { tenant, act }: HoldActor,
  ): Promise<ReleaseOutcome> {
    const args = [id, scope, releasedAt, releasedBy, tenant, JSON.stringify(act)];
    const reply = await runScript(this.redis, 'releaseLegalHold', keys.legalHolds(), ...args);
    const [kind, held = ''] = reply as [ReleaseOutcome['kind'], string?];
    return kind === 'released' ? { kind, tenant: held } : { kind };
  }

  /** The newest holds, active and released, newest first. */
  async list(scope: TenantScope, count: number): Promise<LegalHold[]> {
    const index = scope === everyTenant ? keys.legalHoldsOfAll() : keys.legalHoldsOf(scope);
    const ids = await this.redis.zrevrange(index, 0, count - 1);
    if (ids.length === 0) return [];
    const stored = await this.redis.hmget(keys.legalHolds(), ...ids);
    return stored.flatMap((text) => (text === null ? [] : [JSON.parse(text) as LegalHold]));
  }

  async isHeld(tenant: string): Promise<boolean> {
    return (await this.redis.hexists(keys.legalHoldsActive(), tenant)) === 1;
  }

  /**
   * Applies the active holds to this shard.
   *
   * @returns number of tenants under a hold, and the sweeps that are needed, by tenant
   */
  async follow(): Promise<{ held: number; sweeps: ReadonlyMap<string, string> }> {
    const reply = await runScript(
      this.redis,
      'followHolds',
      keys.legalHoldsActive(),
      this.own.heldTenants(),
      MAX_SWEEPS,
    );
    const [held, ...flat] = reply as string[];
    const sweeps = flat.flatMap((tenant, i) => (i % 2 === 0 ? [[tenant, flat[i + 1] ?? ''] as const] : []));
    return { held: Number(held), sweeps: new Map(sweeps) };
  }

  /** Takes the expiry from those of these records that belong to a tenant under a hold. @returns how many had one */
  async freeze(names: readonly string[]): Promise<number> {
    const [frozen] = (await runScript(this.redis, 'freezeRecords', ...names)) as [string];
    return Number(frozen);
  }

  /** Restores expiries after a release. @returns number of records; undefined when the tenant has a hold again */
  async thaw(tenant: string, count: number): Promise<number | undefined> {
    const reply = await runScript(this.redis, 'thawRecords', this.own.heldExpiries(tenant), tenant, count);
    const [kind, thawed] = reply as ['thawed' | 'held', string?];
    return kind === 'held' ? undefined : Number(thawed);
  }

  /** Ends a sweep of `follow`, if no other has been requested for the tenant. */
  async endSweep(tenant: string, sweep: string): Promise<void> {
    await runScript(this.redis, 'endHoldSweep', this.own.holdSweeps(), tenant, sweep);
  }

  /**
   * Part of the keys of this server, by a cursor that is valid for as long as the connection: those of kinds that may have an
   * expiry and belong to a tenant.
   */
  async scan(cursor: string, count: number): Promise<{ next: string; names: string[] }> {
    const [next, names] = await this.redis.scan(cursor, 'COUNT', count);
    return { next, names: names.filter((name) => this.families.some((prefix) => name.startsWith(prefix))) };
  }

  /** Calls back when cursors of `scan` may have become invalid: the next connection may be to another server. */
  onDisconnected(run: () => void): void {
    this.redis.on('close', run);
  }

  /** Tenants with an active hold. */
  heldTenants(): Promise<string[]> {
    return this.redis.hkeys(keys.legalHoldsActive());
  }
}
