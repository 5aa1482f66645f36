import { printProblem, type Parsed } from '@svc/contract';
import { parsePools, parseTimeouts, type PoolTable, type TimeoutTable } from '@svc/routing';
import type { Store } from '@svc/store';
import { defaultPlace, type EffectiveConfig, readDocument } from '@svc/settings';
import type { StoredFleet } from '@svc/platform';
import type { FleetFileHooks, FleetFiles } from './fleet-files';

/** A table of system/default, and the hash of its source file. */
interface StoredTable<T> {
  value: T;
  fileHash: unknown;
}

/**
 * The pools and timeouts in effect: those of system/default while they were made from the current files, else the files,
 * which are then about to be written there. An operator's edit of the document is in effect until the file changes.
 * See docs/reference/config.md#documents.
 */
export class ConfiguredFleet implements FleetFiles, StoredFleet {
  private revision = 0;
  private reading: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;
  private heldPools: StoredTable<PoolTable> | undefined;
  private heldTimeouts: StoredTable<TimeoutTable> | undefined;

  constructor(
    private readonly files: FleetFiles,
    private readonly store: Pick<Store, 'config'>,
    private readonly settings: { production: boolean },
    private readonly hooks: FleetFileHooks,
  ) {}

  pools(): PoolTable {
    return inForce(this.heldPools, this.files.hashes().pools) ?? this.files.pools();
  }

  timeouts(): TimeoutTable {
    return inForce(this.heldTimeouts, this.files.hashes().timeouts) ?? this.files.timeouts();
  }

  hashes(): ReturnType<FleetFiles['hashes']> {
    return this.files.hashes();
  }

  /** Reads the files again if they changed, and the document. An invalid one leaves the previous tables in effect. */
  async refresh(): Promise<void> {
    await this.files.refresh();
    await this.reload();
  }

  /** One read at a time, so that an older document never replaces a newer one; callers that wait share the next read. */
  reload(): Promise<void> {
    if (this.next) return this.next;
    const next = this.reading.then(() => {
      this.next = undefined;
      return this.read();
    });
    this.next = next;
    this.reading = next.catch(() => undefined);
    return next;
  }

  /** Reloads at each change notice, so that a change does not wait for the next `refresh`. */
  follow(config: EffectiveConfig, onFailed: (error: unknown) => void): void {
    config.onChange(() => void this.reload().catch(onFailed));
  }

  private async read(): Promise<void> {
    const { scope, scope_id } = defaultPlace;
    const revision = await this.store.config.revision(scope, scope_id);
    if (revision === this.revision) return;
    const data = (await readDocument({ store: this.store }, defaultPlace))?.data ?? {};
    const strict = this.settings.production;
    this.heldPools = this.held('pools', data, this.heldPools, (text, source) => parsePools(text, source, strict));
    this.heldTimeouts = this.held('timeouts', data, this.heldTimeouts, parseTimeouts);
    this.revision = revision;
  }

  private held<T>(
    key: 'pools' | 'timeouts',
    data: Readonly<Record<string, unknown>>,
    before: StoredTable<T> | undefined,
    parse: (text: string, source: string) => Parsed<T>,
  ): StoredTable<T> | undefined {
    if (!Object.hasOwn(data, key)) return undefined;
    const parsed = parse(JSON.stringify(data[key]), `${key} of system/default`);
    const fileHash = data[`_${key}FileHash`];
    if (parsed.ok) return { value: parsed.value, fileHash };
    this.hooks.onProblem(parsed.problems.map(printProblem).join('\n'));
    return before && { ...before, fileHash };
  }
}

/** Without a file the document is in effect, whatever its source. */
const inForce = <T>(held: StoredTable<T> | undefined, fileHash: string | undefined): T | undefined =>
  held && (fileHash === undefined || held.fileHash === fileHash) ? held.value : undefined;
