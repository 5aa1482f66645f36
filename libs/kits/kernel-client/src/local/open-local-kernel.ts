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
import { readStamp, watchFiles, whenSettled } from './watched-files';

export interface LocalKernelSettings {
  policyPath: string;
  /** Takes precedence over the path. */
  policyUrl?: PolicyUrl | undefined;
  scannersPath: string;
  policyMaxBytes: number;
  /** Interval at which a policy by URL is reloaded; files are checked at least once a second. */
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
  /** Called after every load, valid or not, in addition to the log. */
  onReload?: (report: LoadReport) => void;
  /** A breaker of a remote kernel opened, as observed by this process. */
  onBreakerTrip?: (breaker: 'input' | 'output') => void;
  /** How many velocity rules the license allows; undefined or negative: any number. */
  maxVelocityRules?: () => number;
}

const MAX_CHECK_INTERVAL_MS = 1_000;
/** All replicas apply a published policy within a second. */
const bundlesLookMs = 300;
const defaultScanning: ScannerSettings = { threads: 2, limitMs: 10_000 };

/**
 * Opens the kernel within this process: loads policy, bundles and scanners, and reloads them when they change. An invalid
 * policy on reload leaves the last valid one in effect.
 *
 * @throws StartError with every problem of the policy; DependencyUnavailable when Redis is unavailable
 */
export async function openLocalKernel(settings: LocalKernelSettings, deps: KernelDeps): Promise<Kernel> {
  const { redis, clock } = deps;
  const { policyPath, policyUrl, scannersPath, signature, reloadIntervalMs } = settings;
  const events = listening(deps);
  const bundles = new BundleSource(redis, settings.bundles);
  const base: BaseSource = { path: policyPath, url: policyUrl, maxBytes: settings.policyMaxBytes, signature };
  const paths = [policyPath, signature.signaturePath ?? `${policyPath}.sig`, scannersPath];
  const stamp = await readStamp(paths);
  const watch = watchFiles(paths, Math.min(reloadIntervalMs, MAX_CHECK_INTERVAL_MS), stamp);
  const reading = <T extends { ok: boolean }>(read: () => Promise<T>) =>
    whenSettled(watch, () => readStamp(paths), read);
  const readScanners = reading(() => loadScanners(scannersPath));
  const source: PolicySource = {
    // A document by URL has no modification time.
    base: policyUrl ? () => loadBase(base) : reading(() => loadBase(base)),
    bundles,
    maxVelocityRules: deps.maxVelocityRules,
  };
  const first = await firstLoad(source, readScanners, policyName(base), events);
  const build = (scanners: Scanners) =>
    new Scanner(scanners, settings.scanning ?? defaultScanning, threadEntry(), monotonicMs);
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
    onRestless: () => events.failed('files', new Error(`files keep changing and were not reloaded: ${paths.join()}`)),
  });
  const stops = [
    () => watch.stop(),
    every(MAX_CHECK_INTERVAL_MS, () => loaded.reportAge()),
    every(MAX_CHECK_INTERVAL_MS, () => loaded.mustAskAgain && void reload()),
    every(MAX_CHECK_INTERVAL_MS, () => void history.retry()),
    every(
      bundlesLookMs,
      onChange(() => bundles.revisions()),
    ),
    // Other programs may write it without a change notification.
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

/** Retried at the next interval while Redis is unavailable. */
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

/** Does not keep the process alive. @returns a function that stops the timer */
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

/** A monotonic clock, for durations. */
const monotonicMs = (): number => performance.now();

async function firstLoad(
  source: PolicySource,
  readScanners: () => Promise<ReadScanners>,
  name: string,
  events: KernelEvents,
) {
  const [policy, scanners] = await Promise.all([loadPolicy(source), readScanners()]);
  if (!policy.ok && policy.isUnread) {
    throw new DependencyUnavailable('cannot read the policy bundles', name, policy.problems.join('\n  '));
  }
  reportPolicy(policy, events);
  if (!policy.ok) {
    const fix = ['Fix these problems; a valid policy is required.', ...policy.problems].join('\n  ');
    throw new StartError('invalid policy', name, fix);
  }
  if (!scanners.ok) events.loaded({ kind: 'refused', what: 'scanners', problems: scanners.problems });
  return scanners.ok
    ? { policy, scanners: scanners.scanners, refusedScanners: undefined }
    : { policy, scanners: standardScanners(), refusedScanners: scanners.problems };
}
