import { everyTenant, type AuditAct, type LegalHold, type TenantScope } from '@svc/contract';
import type { Redis } from 'ioredis';
import { keys } from './keys';
import { runScript } from './scripts';

/** Who changes a hold, and how the change is recorded in the audit chain. */
export interface HoldActor {
  tenant: string;
  act: AuditAct;
}

export type ReleaseOutcome = { kind: 'released'; tenant: string } | { kind: 'repeated' | 'missing' };

/** Legal holds: while a tenant has an active one, retention removes no audit event of it. See docs/reference/audit.md#legal-holds. */
export class LegalHoldRepository {
  constructor(private readonly redis: Redis) {}

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

  /** Tenants with an active hold. */
  heldTenants(): Promise<string[]> {
    return this.redis.hkeys(keys.legalHoldsActive());
  }
}
