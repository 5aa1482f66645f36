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
  /** Problems already reported of a scanners file for which the built-in scanners are in effect. */
  refusedScanners?: readonly string[] | undefined;
  build(scanners: Scanners): Scanner;
  history: Pick<SnapshotHistory, 'add'>;
  cache: Pick<DecisionCache, 'clear'>;
  events: KernelEvents;
  nowMs(): number;
}

/** Time after which no scan can still run on the threads of replaced scanners. */
const retireAfterMs = 60_000;

/** Files in effect and their replacement. Loads are serialized, so that an older one never overwrites a newer one. */
export class LoadedFiles {
  private readonly retired = new Set<Scanner>();
  private loadedAtMs: number;
  /** Reported problems of the last load; undefined after a valid one. */
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
    this.refusedScanners = deps.refusedScanners && formatProblems(deps.refusedScanners);
  }

  get inForce(): InForce {
    return this.current;
  }

  /** Redis was unavailable at the last load, so changes up to then have to be checked again. */
  get mustAskAgain(): boolean {
    return this.isUnread;
  }

  /** Reloads everything. An invalid file leaves the last valid one in effect; an unchanged one is a no-op. */
  reload(): Promise<void> {
    // A load in progress may or may not have read a concurrent change.
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

  reportAge(): void {
    this.deps.events.policyAge((this.deps.nowMs() - this.loadedAtMs) / 1_000);
  }

  async close(): Promise<void> {
    await Promise.all([this.current.scanner, ...this.retired].map((scanner) => scanner.close()));
  }

  private async takePolicy(loaded: LoadedPolicy): Promise<void> {
    const { cache, history, events, nowMs } = this.deps;
    this.isUnread = !loaded.ok && loaded.isUnread;
    const refused = loaded.ok ? undefined : formatProblems(loaded.problems);
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
    this.refusedScanners = read.ok ? undefined : formatProblems(read.problems);
    if (!read.ok) {
      if (this.refusedScanners === reported) return;
      return events.loaded({ kind: 'refused', what: 'scanners', problems: read.problems });
    }
    const before = this.current.scanner;
    if (before.isOf(read.scanners)) {
      // The file in effect was restored.
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

const formatProblems = (problems: readonly string[]): string => problems.join('\n');

export function reportPolicy(loaded: LoadedPolicy, events: KernelEvents): void {
  if (!loaded.ok) return events.loaded({ kind: 'refused', what: 'policy', problems: loaded.problems });
  const { snapshot, ignoredVelocityRules } = loaded.policy;
  events.loaded({ kind: 'loaded', what: 'policy', snapshot, ignoredVelocityRules, unsigned: loaded.unsigned });
}
