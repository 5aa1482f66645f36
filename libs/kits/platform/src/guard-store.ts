import type { Bus } from '@svc/bus';
import {
  StartError,
  type Boot,
  type commonMetrics,
  type commonVariables,
  type EnvOf,
  type OpenMetrics,
} from '@svc/runtime';
import {
  checkRedis,
  readRedisFacts,
  type RedisFacts,
  type Store,
  type StoreFinding,
  type StoreFindingCode,
} from '@svc/store';
import { randomUUID } from 'node:crypto';
import { type Installation, InstallationRepository } from './installation.repository';
import { whenAvailable } from './when-available';

export type StoreMetrics = Pick<OpenMetrics<typeof commonMetrics>['metrics'], 'storeFindings'>;

export interface GuardedParts {
  store: Store;
  bus: Pick<Bus, 'storedMessages'>;
  metrics: StoreMetrics;
}

const checkEveryMs = 60_000;

/**
 * Checks at start, every minute and after each reconnection that Redis is configured for durability and has not lost data.
 * Production does not start on a Redis that may lose jobs. Later findings are reported in the log, in `svc_store_findings` and
 * to admins in the status, and never stop the process. Waits at start for a Redis that does not respond yet.
 *
 * @returns getter of the current findings
 * @throws StartError in production, with every setting to change; DependencyUnavailable after `SVC_START_WAIT`
 */
export async function guardStore(
  boot: Boot<EnvOf<typeof commonVariables>>,
  parts: GuardedParts,
): Promise<() => readonly StoreFinding[]> {
  const { env, onStop } = boot;
  const { redis } = parts.store;
  const guard = new StoreGuard(boot, parts);
  const facts = boot.stopping.aborted ? undefined : await whenAvailable(boot, 'store', () => readRedisFacts(redis));
  if (facts && env.production) refuseUnsafe(guard.evaluate(facts), env.redisUrl);
  await guard.check();
  const recheck = () => void guard.check();
  const timer = setInterval(recheck, checkEveryMs);
  redis.on('ready', recheck);
  onStop('store guard', () => {
    clearInterval(timer);
    redis.off('ready', recheck);
  });
  return () => guard.findings;
}

function refuseUnsafe(findings: readonly StoreFinding[], url: string): void {
  const refused = findings.filter(({ severity }) => severity === 'refuse');
  if (refused.length === 0) return;
  throw new StartError(
    'the store may lose accepted jobs',
    new URL(url).host,
    refused.map(({ what, fix }) => `${what}. ${fix}`).join('\n  '),
  );
}

class StoreGuard {
  findings: readonly StoreFinding[] = [];
  /** Installation id that this process has seen; a Redis without it was replaced or has lost its data. */
  private seenId: string | undefined;
  private running: Promise<void> | undefined;

  constructor(
    private readonly boot: Boot<EnvOf<typeof commonVariables>>,
    private readonly parts: GuardedParts,
  ) {}

  evaluate(facts: RedisFacts): StoreFinding[] {
    const { redisMinReplicas: minReplicas, redisMemoryLimitBytes: memoryLimitBytes } = this.boot.env;
    return checkRedis(facts, { minReplicas, memoryLimitBytes });
  }

  /** Runs one check at a time. The last findings are kept while Redis or the bus is unavailable. */
  check(): Promise<void> {
    this.running ??= this.runCheck()
      .catch((error: unknown) => this.boot.log.oncePer('store guard', 60_000).warn('store check failed', { error }))
      .finally(() => (this.running = undefined));
    return this.running;
  }

  private async runCheck(): Promise<void> {
    const findings = this.evaluate(await readRedisFacts(this.parts.store.redis));
    const alarm = await this.checkInstallation();
    this.report(alarm ? [...findings, alarm] : findings);
  }

  private async checkInstallation(): Promise<StoreFinding | undefined> {
    const installation = new InstallationRepository(this.parts.store.redis);
    const before = await installation.read();
    if (!before.marker) {
      // The bus is read first: a marker written by another process in between is then seen below.
      const storedMessages = await this.parts.bus.storedMessages();
      const now = await installation.read();
      const lost = now.marker ? undefined : this.lossReason(now.hasRecords, storedMessages);
      await installation.write(this.newMarker(lost));
    } else if (this.seenId && before.marker.id !== this.seenId) {
      await installation.write(this.newMarker('the store is a different installation, or was replaced by a copy'));
    }
    const { marker } = await installation.read();
    this.seenId = marker?.id;
    return marker?.alarm === undefined ? undefined : dataLost(marker.alarm);
  }

  private lossReason(hasRecords: boolean, storedMessages: number): string | undefined {
    if (this.seenId) return 'the store was emptied while services ran';
    if (hasRecords) return 'the store has jobs but no installation marker: part of its data is missing';
    if (storedMessages > 0)
      return `the store is empty, but the bus holds ${storedMessages} messages of jobs it does not have`;
    return undefined;
  }

  private newMarker(alarm: string | undefined): Installation {
    const created_at = new Date(this.boot.clock.nowMs()).toISOString();
    return { id: randomUUID(), created_at, ...(alarm && { alarm: `${alarm} (since ${created_at})` }) };
  }

  private report(findings: readonly StoreFinding[]): void {
    const { log } = this.boot;
    const before = new Set(this.findings.map(({ code }) => code));
    const now = new Set<StoreFindingCode>(findings.map(({ code }) => code));
    for (const { code, severity, what, fix } of findings) {
      if (code === 'data_lost')
        log.oncePer('data lost', 600_000).error('store has lost data', { finding: code, what, fix });
      else if (!before.has(code)) {
        const level = severity === 'refuse' && this.boot.env.production ? 'error' : 'warn';
        log[level]('store is unsafe', { finding: code, what, fix });
      }
    }
    for (const { code } of this.findings) if (!now.has(code)) log.info('store finding resolved', { finding: code });
    this.findings = findings;
    this.parts.metrics.storeFindings.replace(findings.map(({ code: finding }) => ({ labels: { finding }, value: 1 })));
  }
}

const dataLost = (what: string): StoreFinding => ({
  code: 'data_lost',
  severity: 'warn',
  what,
  fix: 'Restore the store from its backup, or accept the loss: HDEL svc:installation alarm. See docs/durability.md.',
});
