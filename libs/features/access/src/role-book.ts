import { builtInRoles, type Role } from '@svc/contract';
import type { Clock } from '@svc/platform';
import { outsideAct, type RoleRepository, type StoredRole } from '@svc/store';

export type Roles = Readonly<Record<string, Role>>;

/** Built-in roles that are stored from the start, and cannot be deleted. The others are stored once they are changed. */
export const protectedRoles: readonly string[] = ['admin', 'operator', 'viewer'];

interface RoleBookDeps {
  roles: Pick<RoleRepository, 'version' | 'read' | 'write'>;
  clock: Pick<Clock, 'nowMs'>;
  /** Called after roles changed, here or at another replica. */
  onChanged(): void;
}

/** Roles in memory are used for so long while Redis does not answer. */
const MAX_STALE_MS = 5_000;

/**
 * The roles of the installation in memory. `sync`, which runs twice a second, reads them when they have changed. While they
 * cannot be read, only the built-in roles hold permissions, and none that their stored version does not.
 * See docs/reference/access.md#roles.
 */
export class RoleBook {
  private stored: ReadonlyMap<string, StoredRole> = new Map();
  private current: Roles = builtInRoles;
  private restricted: Roles = builtInRoles;
  private version = -1;
  private syncedMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly deps: RoleBookDeps) {}

  /** Every role that is in effect, by name. */
  all(): Roles {
    return this.deps.clock.nowMs() - this.syncedMs < MAX_STALE_MS ? this.current : this.restricted;
  }

  /** Applies changes of roles: one small read. Stores the built-in roles when there are none. */
  async sync(): Promise<void> {
    const startedMs = this.deps.clock.nowMs();
    const version = await this.deps.roles.version();
    if (version !== this.version || version === 0) await this.load();
    this.syncedMs = Math.max(this.syncedMs, startedMs);
  }

  private async load(): Promise<void> {
    const found = await this.read();
    const hasChanged = this.version >= 0 && found.version !== this.version;
    this.stored = found.roles;
    this.version = found.version;
    this.current = { ...builtInRoles, ...Object.fromEntries(this.stored) };
    this.restricted = Object.fromEntries(
      Object.entries(builtInRoles).map(([name, role]) => [name, restrict(role, this.stored.get(name))]),
    );
    if (hasChanged) this.deps.onChanged();
  }

  /** All stored roles from Redis, after storing the built-in ones when there are none. */
  async read(): ReturnType<RoleRepository['read']> {
    const { roles, clock } = this.deps;
    const found = await roles.read();
    if (found.version > 0) return found;
    const now = new Date(clock.nowMs()).toISOString();
    const seeds = Object.entries(builtInRoles).filter(([name]) => protectedRoles.includes(name));
    const seeded = new Map(seeds.map(([name, role]) => [name, { ...role, created_at: now, updated_at: now }]));
    // Another replica may be first.
    await outsideAct(() => roles.write(0, seeded));
    return roles.read();
  }
}

const restrict = (role: Role, stored: Role | undefined): Role =>
  stored ? { ...role, permissions: role.permissions.filter((one) => stored.permissions.includes(one)) } : role;
