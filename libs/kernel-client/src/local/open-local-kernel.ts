import { StartError, type Clock, type Handles, type kernelMetrics, type Logger } from '@svc/runtime';
import type { Redis } from 'ioredis';
import { kernelEvents, type KernelEvents, type LoadReport } from '../events';
import type { Kernel } from '../kernel';
import { threadEntry } from '../thread-entry';
import { DecisionCache, type DecisionCacheSettings } from './decision-cache';
import { loadPolicy, type PolicySource } from './load-policy';
import { standardScanners, type Scanners } from '../scan/scanners';
import { loadScanners } from './load-scanners';
import { LocalKernel, type InForce } from './local-kernel';
import { Scanner, type ScannerSettings } from './scanner';
import type { SignatureSettings } from './signature';
import { SnapshotHistory } from './snapshot-history';
import { velocityWindows } from './velocity';
import { stampOf, watchFiles } from './watched-files';

export interface LocalKernelSettings {
  policyPath: string;
  /** Wins over the path. */
  policyUrl?: string | undefined;
  scannersPath: string;
  policyMaxBytes: number;
  /** How often files are looked at for changes, at most 1 s apart. */
  reloadIntervalMs: number;
  signature: SignatureSettings;
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
  /** How many velocity rules the license allows; undefined or negative: any number. */
  maxVelocityRules?: () => number;
}

const mostBetweenLooksMs = 1_000;
const standardScanning: ScannerSettings = { threads: 1, limitMs: 10_000 };

/**
 * Opens the kernel within this process: loads policy and scanners, and loads them again when they change. A policy that
 * is bad when it is loaded again leaves the last good one in force. Policy contract 4; spec: "Scanner definitions file".
 *
 * @throws StartError with every problem of the policy file
 */
export async function openLocalKernel(settings: LocalKernelSettings, deps: KernelDeps): Promise<Kernel> {
  const { redis, clock } = deps;
  const events = listening(deps);
  const files = filesOf(settings);
  const stamp = await stampOf(files.all);
  const first = await firstLoad(files.policy, settings.scannersPath, events);
  const build = (scanners: Scanners) =>
    new Scanner(scanners, settings.scanning ?? standardScanning, threadEntry(), monotonicMs);

  let inForce: InForce = { policy: first.policy, scanner: build(first.scanners) };
  const history = new SnapshotHistory(redis, (error) => events.failed('snapshots', error));
  const cache = new DecisionCache(settings.decisionCache, () => clock.nowMs());
  await history.add(first.policy.snapshot);

  const reload = async () => {
    const [policy, scanners] = await Promise.all([loadPolicy(files.policy), loadScanners(settings.scannersPath)]);
    if (policy.ok && policy.policy.snapshot !== inForce.policy.snapshot) {
      inForce = { ...inForce, policy: policy.policy };
      cache.clear();
      await history.add(policy.policy.snapshot);
    }
    reportPolicy(policy, events);
    if (!scanners.ok) return events.loaded({ kind: 'refused', what: 'scanners', problems: scanners.problems });
    const before = inForce.scanner;
    if (!before.isOf(scanners.scanners)) {
      inForce = { ...inForce, scanner: build(scanners.scanners) };
      events.loaded({ kind: 'loaded', what: 'scanners' });
      await before.close();
    }
  };
  const everyMs = Math.min(settings.reloadIntervalMs, mostBetweenLooksMs);
  const stopWatching = watchFiles(files.all, everyMs, stamp, () =>
    reload().catch((error: unknown) => events.failed('files', error)),
  );

  return new LocalKernel({
    inForce: () => inForce,
    history,
    cache,
    velocity: velocityWindows(redis, events, monotonicMs),
    velocityFailMode: settings.velocityFailMode,
    events,
    nowMs: monotonicMs,
    async close() {
      stopWatching();
      await inForce.scanner.close();
    },
  });

  function filesOf({ policyPath, scannersPath, policyMaxBytes, signature }: LocalKernelSettings) {
    const { maxVelocityRules } = deps;
    const policy: PolicySource = { path: policyPath, maxBytes: policyMaxBytes, signature, maxVelocityRules };
    return { policy, all: [policyPath, signature.signaturePath ?? `${policyPath}.sig`, scannersPath] };
  }
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

async function firstLoad(source: PolicySource, scannersPath: string, events: KernelEvents) {
  const [policy, scanners] = await Promise.all([loadPolicy(source), loadScanners(scannersPath)]);
  reportPolicy(policy, events);
  if (!policy.ok) {
    const mend = ['Mend these; nothing runs without a good policy.', ...policy.problems].join('\n  ');
    throw new StartError('the policy cannot be used', source.path, mend);
  }
  if (!scanners.ok) events.loaded({ kind: 'refused', what: 'scanners', problems: scanners.problems });
  return { policy: policy.policy, scanners: scanners.ok ? scanners.scanners : standardScanners() };
}

function reportPolicy(loaded: Awaited<ReturnType<typeof loadPolicy>>, events: KernelEvents): void {
  if (!loaded.ok) return events.loaded({ kind: 'refused', what: 'policy', problems: loaded.problems });
  const { snapshot, ignoredVelocityRules } = loaded.policy;
  events.loaded({ kind: 'loaded', what: 'policy', snapshot, ignoredVelocityRules });
}
