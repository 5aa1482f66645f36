import type { AuditAct, TenantStatus } from '@svc/contract';
import { inFlightStates, jobStates, runStates } from '@svc/lifecycle';
import type { Redis } from 'ioredis';
import { keys as installationKeys, type Keys } from './keys';
import { luaJson } from './lua-json';
import { runScript } from './scripts';

/** A tenant. One without a stored record is active, with the time of its creation unknown. */
export interface TenantRecord {
  tenant: string;
  status: TenantStatus;
  displayName: string;
  /** Of the last suspension. */
  reason: string;
  createdBy: string;
  /** µs; 0 = unknown. */
  createdUs: number;
  updatedUs: number;
  /** Progress of the deletion. */
  erasure?: { phase: string; removed: number };
}

export type TenantChange = 'create' | 'suspend' | 'resume' | 'delete' | 'finish';

interface TenantChangeRequest {
  change: TenantChange;
  /** Of the license, for `create`; 0 or less = unlimited. */
  maxTenants: number;
  fields: Readonly<Record<string, string>>;
  actorTenant: string;
  act: AuditAct;
}

export type TenantChangeOutcome =
  | { kind: 'changed' | 'unchanged' | 'refused'; status: TenantStatus }
  | { kind: 'missing' | 'held' }
  | { kind: 'full'; count: number };

/** Tenants and their status. See docs/reference/tenants.md. */
export class TenantRepository {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  async change(
    tenant: string,
    { change, maxTenants, fields, actorTenant, act }: TenantChangeRequest,
  ): Promise<TenantChangeOutcome> {
    const args = [tenant, change, maxTenants, actorTenant, luaJson(act), ...Object.entries(fields).flat()];
    const reply = await runScript(this.redis, 'changeTenant', this.keys.tenant(tenant), ...args);
    const [kind, detail] = reply as [TenantChangeOutcome['kind'], string?];
    if (kind === 'full') return { kind, count: Number(detail) };
    return kind === 'missing' || kind === 'held' ? { kind } : { kind, status: detail as TenantStatus };
  }

  /** Undefined for a tenant that was never used or created. */
  async get(tenant: string): Promise<TenantRecord | undefined> {
    const [stored, known] = await Promise.all([this.redis.hgetall(this.keys.tenant(tenant)), this.isKnown(tenant)]);
    if (!stored['status'] && !known) return undefined;
    return toRecord(tenant, stored);
  }

  private async isKnown(tenant: string): Promise<boolean> {
    const found = await Promise.all(
      [this.keys.tenants(), installationKeys.auditTenants()].map((set) => this.redis.sismember(set, tenant)),
    );
    return found.includes(1);
  }

  /** Number of tenants that the license limits: those that were created or have submitted jobs, but deleted ones. */
  async count(): Promise<number> {
    return (await this.redis.sunion(this.keys.tenants(), this.keys.knownTenants())).length;
  }

  /** Names of all tenants but deleted ones, in byte order. */
  async names(): Promise<string[]> {
    const names = await this.redis.sunion(
      this.keys.tenants(),
      this.keys.knownTenants(),
      installationKeys.auditTenants(),
    );
    const statuses = await this.statuses(names);
    return names.filter((_, i) => statuses[i] !== 'deleted').sort();
  }

  private async statuses(names: readonly string[]): Promise<(string | null)[]> {
    const pipeline = this.redis.pipeline();
    for (const name of names) pipeline.hget(this.keys.tenant(name), 'status');
    return ((await pipeline.exec()) ?? []).map(([error, status]) => {
      if (error) throw error;
      return status as string | null;
    });
  }

  /** Version of the last change; names that are read later contain at least this one. */
  async version(): Promise<string> {
    // A pipeline of its own, so that a poll delays no automatic one.
    const [[error, version] = [null, null]] =
      (await this.redis.pipeline().get(this.keys.tenantsVersion()).exec()) ?? [];
    if (error) throw error;
    return String(version ?? '');
  }

  /** Tenants that are suspended or being deleted. */
  stopped(): Promise<string[]> {
    return this.redis.smembers(this.keys.stoppedTenants());
  }

  /** Tenants whose status is not applied to their jobs yet, and those that are being deleted, oldest first. */
  async changed(count: number): Promise<string[]> {
    const [[error, names] = [null, []]] =
      (await this.redis
        .pipeline()
        .zrange(this.keys.tenantsChanged(), '0', String(count - 1))
        .exec()) ?? [];
    if (error) throw error;
    return names as string[];
  }

  /** Some jobs of a tenant that workers have. */
  async jobsWithWorkers(tenant: string, count: number): Promise<string[]> {
    const pages = await Promise.all(
      inFlightStates.map((state) => this.redis.zrange(this.keys.jobsInState(tenant, state), '0', String(count - 1))),
    );
    return pages.flat();
  }

  /** Numbers of workflows, and of jobs and runs that changed since a time (µs). */
  async countWork(tenant: string, sinceUs: number): Promise<{ jobs: number; runs: number; workflows: number }> {
    const { keys, redis } = this;
    const count = async (indexes: readonly string[]) =>
      (await Promise.all(indexes.map((index) => redis.zcount(index, sinceUs, '+inf')))).reduce((sum, n) => sum + n, 0);
    const [jobs, runs, workflows] = await Promise.all([
      count(jobStates.states.map((state) => keys.jobsInState(tenant, state))),
      count(runStates.states.map((status) => keys.runsInStatus(tenant, status))),
      redis.zcard(keys.workflows(tenant)),
    ]);
    return { jobs, runs, workflows };
  }

  async finishChange(tenant: string, applied: TenantStatus): Promise<boolean> {
    const reply = await runScript(this.redis, 'finishTenantChange', this.keys.tenant(tenant), tenant, applied);
    return (reply as [string])[0] === 'finished';
  }

  /**
   * Stores the progress of the deletion of a tenant, by compare-and-set on the step.
   *
   * @param executed step that was executed; undefined = none was stored yet
   * @param removed number of records that it removed
   * @returns whether the tenant is still being deleted and no other process has stored progress
   */
  async advanceErasure(
    tenant: string,
    executed: string | undefined,
    { phase, removed }: NonNullable<TenantRecord['erasure']>,
  ): Promise<boolean> {
    const args = [executed ?? '', phase, removed];
    const reply = await runScript(this.redis, 'advanceErasure', this.keys.tenant(tenant), ...args);
    return (reply as [string])[0] === 'advanced';
  }
}

function toRecord(tenant: string, stored: Readonly<Record<string, string>>): TenantRecord {
  return {
    tenant,
    status: (stored['status'] ?? 'active') as TenantStatus,
    displayName: stored['display_name'] ?? '',
    reason: stored['reason'] ?? '',
    createdBy: stored['created_by'] ?? '',
    createdUs: Number(stored['created_at'] ?? 0),
    updatedUs: Number(stored['updated_at'] ?? 0),
    ...(stored['erase_phase'] && {
      erasure: { phase: stored['erase_phase'], removed: Number(stored['erase_removed'] ?? 0) },
    }),
  };
}
