import type { WorkerTrustRepository } from '../worker-trust.repository';
import { type AccessChanges, type AccessList, toSecrets, type WorkerSecrets } from './worker-secrets';

/** A store whose users are made from credentials. */
export interface AccessTarget {
  readonly store: 'nats' | 'redis';
  /** Whether the users are those of the last `apply`. */
  isCurrent(): Promise<boolean>;
  /** Makes the users equal to the list. Safe to repeat, also concurrently in several processes. */
  apply(workers: AccessList): Promise<AccessChanges>;
}

export interface StoreAccessDeps {
  trust: Pick<WorkerTrustRepository, 'version' | 'changedSince' | 'allIds' | 'records'>;
  targets: readonly AccessTarget[];
  onApplied(store: AccessTarget['store'], workers: number, changes: AccessChanges): void;
  onFailed(store: AccessTarget['store'], error: unknown): void;
}

/**
 * Makes the users of NATS and Redis follow the credentials of workers. `sync` compares one number while nothing changes; a
 * store that cannot be reached delays neither the other one nor a later attempt. While credentials cannot be read, users stay
 * as they are. See docs/adr/0032-store-access-by-credential.md.
 */
export class StoreAccess {
  private readonly workers = new Map<string, WorkerSecrets>();
  private readonly applied = new Map<AccessTarget, number>();
  private version = -1;
  private running: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  constructor(private readonly deps: StoreAccessDeps) {}

  /** Applies what changed. Calls made while it runs share the next one. @throws Error when credentials cannot be read */
  sync(): Promise<void> {
    if (this.next) return this.next;
    const { running } = this;
    if (!running) {
      this.running = this.applyChanges().finally(() => (this.running = undefined));
      return this.running;
    }
    const after = () => {
      this.next = undefined;
      return this.sync();
    };
    this.next = running.then(after, after);
    return this.next;
  }

  private async applyChanges(): Promise<void> {
    await this.readChanges();
    const { version } = this;
    await Promise.all(this.deps.targets.map((target) => this.applyTo(target, version)));
  }

  private async applyTo(target: AccessTarget, version: number): Promise<void> {
    try {
      if (this.applied.get(target) === version && (await target.isCurrent())) return;
      const changes = await target.apply(new Map(this.workers));
      this.applied.set(target, version);
      this.deps.onApplied(target.store, this.workers.size, changes);
    } catch (error) {
      this.applied.delete(target);
      this.deps.onFailed(target.store, error);
    }
  }

  private async readChanges(): Promise<void> {
    const { trust } = this.deps;
    const version = await trust.version();
    if (version === this.version) return;
    // A lower version is that of a restored backup.
    const isFirst = this.version < 0 || version < this.version;
    const ids = isFirst ? await trust.allIds() : await trust.changedSince(this.version);
    const records = await trust.records(ids);
    if (isFirst) this.workers.clear();
    for (const id of ids) {
      const secrets = toSecrets(records.get(id));
      if (secrets) this.workers.set(id, secrets);
      else this.workers.delete(id);
    }
    this.version = version;
  }
}
