import {
  DependencyUnavailable,
  StartError,
  type Clock,
  type Handles,
  type kernelMetrics,
  type Logger,
} from '@svc/runtime';
import type { Redis } from 'ioredis';
import { kernelEvents, type KernelEvents, type LoadReport } from '../events';
import type { Kernel } from '../kernel';
import { threadEntry } from '../thread-entry';
import { DecisionCache, type DecisionCacheSettings } from './decision-cache';
import type { PolicyUrl } from './fetch-policy';
import { BundleSource, type BundleSettings } from './load-bundles';
import { loadBase, loadPolicy, policyName, type BaseSource, type PolicySource } from './load-policy';
import { standardScanners, type ReadScanners, type Scanners } from '../scan/scanners';
import { loadScanners } from './load-scanners';
import { LoadedFiles, reportPolicy } from './loaded-files';
import { LocalKernel } from './local-kernel';
import { Scanner, type ScannerSettings } from './scanner';
import type { SignatureSettings } from './signature';
import { SnapshotHistory } from './snapshot-history';
import { velocityWindows } from './velocity';
import { stampOf, watchFiles, whenSettled } from './watched-files';

export interface LocalKernelSettings {
  policyPath: string;
  /** Wins over the path. */
  policyUrl?: PolicyUrl | undefined;
  scannersPath: string;
  policyMaxBytes: number;
  /** How often a policy by URL is loaded again; files are looked at for changes at least once a second. */
  reloadIntervalMs: number;
  signature: SignatureSettings;
  bundles: BundleSettings;
  velocityFailMode: 'open' | 'closed';
  decisionCache: DecisionCacheSettings;
  scanning?: ScannerSettings;
}

export interface KernelDeps {
  /** Of use `request`: commands fail in time. */
  redis: Redis;
  log: Logger;
  clock: Pick<Clock, 'nowMs'>;
  metrics?: Handles<typeof kernelMetrics>;
  /** Hears of every load, good or bad, besides the log. */
  onReload?: (report: LoadReport) => void;
  /** A breaker of a remote kernel opened, as this process learned it. */
  onBreakerTrip?: (breaker: 'input' | 'output') => void;
  /** How many velocity rules the license allows; undefined or negative: any number. */
  maxVelocityRules?: () => number;
}

const mostBetweenLooksMs = 1_000;
/** All replicas decide by what was published within a second. */
const bundlesLookMs = 300;
const standardScanning: ScannerSettings = { threads: 2, limitMs: 10_000 };

/**
 * Opens the kernel within this process: loads policy, bundles and scanners, and loads them again when they change. A policy that
 * is bad when it is loaded again leaves the last good one in force.
 *
 * @throws StartError with every problem of the policy; DependencyUnavailable when Redis does not answer
 */
export async function openLocalKernel(settings: LocalKernelSettings, deps: KernelDeps): Promise<Kernel> {
  const { redis, clock } = deps;
  const { policyPath, policyUrl, scannersPath, signature, reloadIntervalMs } = settings;
  const events = listening(deps);
  const bundles = new BundleSource(redis, settings.bundles);
  const base: BaseSource = { path: policyPath, url: policyUrl, maxBytes: settings.policyMaxBytes, signature };
  const paths = [policyPath, signature.signaturePath ?? `${policyPath}.sig`, scannersPath];
  const stamp = await stampOf(paths);
  const watch = watchFiles(paths, Math.min(reloadIntervalMs, mostBetweenLooksMs), stamp);
  const reading = <T extends { ok: boolean }>(read: () => Promise<T>) => whenSettled(watch, () => stampOf(paths), read);
  const readScanners = reading(() => loadScanners(scannersPath));
  const source: PolicySource = {
    // A document by URL has no time of change to look at.
    base: policyUrl ? () => loadBase(base) : reading(() => loadBase(base)),
    bundles,
    maxVelocityRules: deps.maxVelocityRules,
  };
  const first = await firstLoad(source, readScanners, policyName(base), events);
  const build = (scanners: Scanners) =>
    new Scanner(scanners, settings.scanning ?? standardScanning, threadEntry(), monotonicMs);
  const history = new SnapshotHistory(redis, (error) => events.failed('snapshots', error));
  const cache = new DecisionCache(settings.decisionCache, () => clock.nowMs());
  await history.add(first.policy.policy.snapshot);

  const loaded = new LoadedFiles(
    { policy: first.policy.policy, scanner: build(first.scanners) },
    {
      loadPolicy: () => loadPolicy(source),
      loadScanners: readScanners,
      refusedScanners: first.refusedScanners,
      build,
      history,
      cache,
      events,
      nowMs: monotonicMs,
    },
  );
  const reload = () => loaded.reload().catch((error: unknown) => events.failed('files', error));
  const onChange = (read: () => Promise<string>) => whenChanged(read, first.policy.revisions, () => void reload());
  watch.start({
    onChange: reload,
    onRestless: () => events.failed('files', new Error(`still being written to, and not read before: ${paths.join()}`)),
  });
  const stops = [
    () => watch.stop(),
    every(mostBetweenLooksMs, () => loaded.tellAge()),
    every(mostBetweenLooksMs, () => loaded.mustAskAgain && void reload()),
    every(
      bundlesLookMs,
      onChange(() => bundles.revisions()),
    ),
    // Others than this product may have written it, without a word.
    every(
      reloadIntervalMs,
      onChange(() => bundles.storedRevisions()),
    ),
    ...(policyUrl ? [every(reloadIntervalMs, () => void reload())] : []),
  ];

  return new LocalKernel({
    inForce: () => loaded.inForce,
    history,
    cache,
    velocity: velocityWindows(redis, events, monotonicMs),
    velocityFailMode: settings.velocityFailMode,
    events,
    nowMs: monotonicMs,
    async close() {
      for (const stop of stops) stop();
      await loaded.close();
    },
  });
}

/** A store that does not answer is asked again the next time. */
function whenChanged(revisions: () => Promise<string>, first: string, reload: () => void): () => void {
  let last = first;
  return () =>
    void revisions().then(
      (now) => {
        if (now === last) return;
        last = now;
        reload();
      },
      () => undefined,
    );
}

/** Without keeping the process alive. @returns ends it */
function every(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms);
  timer.unref();
  return () => clearInterval(timer);
}

function listening({ log, metrics, onReload }: KernelDeps): KernelEvents {
  const events = kernelEvents(log, metrics);
  return {
    ...events,
    loaded(report) {
      events.loaded(report);
      onReload?.(report);
    },
  };
}

/** Durations are measured on a clock that is never set. */
const monotonicMs = (): number => performance.now();

async function firstLoad(
  source: PolicySource,
  readScanners: () => Promise<ReadScanners>,
  name: string,
  events: KernelEvents,
) {
  const [policy, scanners] = await Promise.all([loadPolicy(source), readScanners()]);
  if (!policy.ok && policy.isUnread) {
    throw new DependencyUnavailable('the policy bundles cannot be read', name, policy.problems.join('\n  '));
  }
  reportPolicy(policy, events);
  if (!policy.ok) {
    const mend = ['Mend these; nothing runs without a good policy.', ...policy.problems].join('\n  ');
    throw new StartError('the policy cannot be used', name, mend);
  }
  if (!scanners.ok) events.loaded({ kind: 'refused', what: 'scanners', problems: scanners.problems });
  return scanners.ok
    ? { policy, scanners: scanners.scanners, refusedScanners: undefined }
    : { policy, scanners: standardScanners(), refusedScanners: scanners.problems };
}
