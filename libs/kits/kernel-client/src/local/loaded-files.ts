import type { KernelEvents } from '../events';
import type { ReadScanners, Scanners } from '../scan/scanners';
import type { DecisionCache } from './decision-cache';
import type { LoadedPolicy } from './load-policy';
import type { InForce } from './local-kernel';
import type { Scanner } from './scanner';
import type { SnapshotHistory } from './snapshot-history';

export interface LoadedFilesDeps {
  loadPolicy(): Promise<LoadedPolicy>;
  loadScanners(): Promise<ReadScanners>;
  /** Problems of the scanners file that were reported before, so that the built-in scanners are in force. */
  refusedScanners?: readonly string[] | undefined;
  build(scanners: Scanners): Scanner;
  history: Pick<SnapshotHistory, 'add'>;
  cache: Pick<DecisionCache, 'clear'>;
  events: KernelEvents;
  nowMs(): number;
}

/** Scans under way end on the threads they began on; after this long none of them is left. */
const retireAfterMs = 60_000;

/** What is in force, and how a new one takes its place: one load at a time, so that an older one never comes last. */
export class LoadedFiles {
  private readonly retired = new Set<Scanner>();
  private loadedAtMs: number;
  /** What was wrong with the last load, as it was told; undefined when nothing was. */
  private refused: string | undefined;
  private refusedScanners: string | undefined;
  private isUnread = false;
  private loading: Promise<void> | undefined;
  private again = false;

  constructor(
    private current: InForce,
    private readonly deps: LoadedFilesDeps,
  ) {
    this.loadedAtMs = deps.nowMs();
    this.refusedScanners = deps.refusedScanners && faultsOf(deps.refusedScanners);
  }

  get inForce(): InForce {
    return this.current;
  }

  /** The store did not answer when it was asked last: whatever had changed by then must be looked at again. */
  get mustAskAgain(): boolean {
    return this.isUnread;
  }

  /** Loads all again. What is bad leaves the last good one in force; what is the same changes nothing. */
  reload(): Promise<void> {
    // What changes while a load is under way may have been read by it or not.
    if (this.loading) this.again = true;
    return (this.loading ??= this.load().finally(() => {
      this.loading = undefined;
    }));
  }

  private async load(): Promise<void> {
    do {
      this.again = false;
      await this.loadOnce();
    } while (this.again);
  }

  private async loadOnce(): Promise<void> {
    const [policy, scanners] = await Promise.all([this.deps.loadPolicy(), this.deps.loadScanners()]);
    await this.takePolicy(policy);
    this.takeScanners(scanners);
  }

  tellAge(): void {
    this.deps.events.policyAge((this.deps.nowMs() - this.loadedAtMs) / 1_000);
  }

  async close(): Promise<void> {
    await Promise.all([this.current.scanner, ...this.retired].map((scanner) => scanner.close()));
  }

  private async takePolicy(loaded: LoadedPolicy): Promise<void> {
    const { cache, history, events, nowMs } = this.deps;
    this.isUnread = !loaded.ok && loaded.isUnread;
    const refused = loaded.ok ? undefined : faultsOf(loaded.problems);
    const isSame = loaded.ok && loaded.policy.snapshot === this.current.policy.snapshot;
    if ((isSame || !loaded.ok) && refused === this.refused) return;
    this.refused = refused;
    reportPolicy(loaded, events);
    if (!loaded.ok || isSame) return;
    this.current = { ...this.current, policy: loaded.policy };
    this.loadedAtMs = nowMs();
    cache.clear();
    await history.add(loaded.policy.snapshot);
  }

  private takeScanners(read: ReadScanners): void {
    const { events, build } = this.deps;
    const reported = this.refusedScanners;
    this.refusedScanners = read.ok ? undefined : faultsOf(read.problems);
    if (!read.ok) {
      if (this.refusedScanners === reported) return;
      return events.loaded({ kind: 'refused', what: 'scanners', problems: read.problems });
    }
    const before = this.current.scanner;
    if (before.isOf(read.scanners)) {
      // The file that is in force was put back.
      if (reported !== undefined) events.loaded({ kind: 'loaded', what: 'scanners' });
      return;
    }
    this.current = { ...this.current, scanner: build(read.scanners) };
    events.loaded({ kind: 'loaded', what: 'scanners' });
    this.retired.add(before);
    setTimeout(() => {
      this.retired.delete(before);
      void before.close();
    }, retireAfterMs).unref();
  }
}

const faultsOf = (problems: readonly string[]): string => problems.join('\n');

export function reportPolicy(loaded: LoadedPolicy, events: KernelEvents): void {
  if (!loaded.ok) return events.loaded({ kind: 'refused', what: 'policy', problems: loaded.problems });
  const { snapshot, ignoredVelocityRules } = loaded.policy;
  events.loaded({ kind: 'loaded', what: 'policy', snapshot, ignoredVelocityRules, unsigned: loaded.unsigned });
}
