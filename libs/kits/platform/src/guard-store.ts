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
  type Installation,
  type RedisFacts,
  type Store,
  type StoreFinding,
  type StoreFindingCode,
} from '@svc/store';
import { randomUUID } from 'node:crypto';
import { whenAvailable } from './when-available';

export type StoreMetrics = Pick<OpenMetrics<typeof commonMetrics>['metrics'], 'storeFindings'>;

export interface GuardedParts {
  store: Store;
  bus: Pick<Bus, 'storedMessages'>;
  metrics: StoreMetrics;
}

const checkEveryMs = 60_000;

/**
 * Looks at start, every minute and after each new connection whether Redis keeps what it acknowledges, and whether it has
 * lost what it kept. Production does not start on one that may lose jobs; a change while it runs is told in the log, in
 * `svc_store_findings` and to admins in the status, and stops nothing. It waits for a Redis that does not answer yet.
 *
 * @returns what is wrong now
 * @throws StartError in production, naming all that is to be set; DependencyUnavailable after `SVC_START_WAIT`
 */
export async function guardStore(
  boot: Boot<EnvOf<typeof commonVariables>>,
  parts: GuardedParts,
): Promise<() => readonly StoreFinding[]> {
  const { env, onStop } = boot;
  const { redis } = parts.store;
  const guard = new StoreGuard(boot, parts);
  const facts = boot.stopping.aborted ? undefined : await whenAvailable(boot, 'store', () => readRedisFacts(redis));
  if (facts && env.production) refuseUnsafe(guard.judge(facts), env.redisUrl);
  await guard.check();
  const again = () => void guard.check();
  const timer = setInterval(again, checkEveryMs);
  redis.on('ready', again);
  onStop('store guard', () => {
    clearInterval(timer);
    redis.off('ready', again);
  });
  return () => guard.findings;
}

function refuseUnsafe(findings: readonly StoreFinding[], url: string): void {
  const refused = findings.filter(({ severity }) => severity === 'refuse');
  if (refused.length === 0) return;
  throw new StartError(
    'the store may lose what it accepted',
    new URL(url).host,
    refused.map(({ what, mend }) => `${what}. ${mend}`).join('\n  '),
  );
}

class StoreGuard {
  findings: readonly StoreFinding[] = [];
  /** The installation this process has seen; a Redis without it has lost its data, or is another. */
  private seenId: string | undefined;
  private running: Promise<void> | undefined;

  constructor(
    private readonly boot: Boot<EnvOf<typeof commonVariables>>,
    private readonly parts: GuardedParts,
  ) {}

  judge(facts: RedisFacts): StoreFinding[] {
    const { redisMinReplicas: minReplicas, redisMemoryLimitBytes: memoryLimitBytes } = this.boot.env;
    return checkRedis(facts, { minReplicas, memoryLimitBytes });
  }

  /** One check at a time; while Redis or the bus does not answer, what was found last stands. */
  check(): Promise<void> {
    this.running ??= this.look()
      .catch((error: unknown) =>
        this.boot.log.oncePer('store guard', 60_000).warn('store could not be checked', { error }),
      )
      .finally(() => (this.running = undefined));
    return this.running;
  }

  private async look(): Promise<void> {
    const facts = this.judge(await readRedisFacts(this.parts.store.redis));
    const alarm = await this.alarm();
    this.tell(alarm ? [...facts, alarm] : facts);
  }

  private async alarm(): Promise<StoreFinding | undefined> {
    const { installation } = this.parts.store;
    const before = await installation.read();
    if (!before.marker) {
      // The bus is asked first: were the marker written in between, it would be read below.
      const remembered = await this.parts.bus.storedMessages();
      const now = await installation.read();
      const lost = now.marker ? undefined : this.whyLost(now.hasRecords, remembered);
      await installation.write(this.newMarker(lost));
    } else if (this.seenId && before.marker.id !== this.seenId) {
      await installation.write(this.newMarker('the store is another one than before, or was replaced by a copy'));
    }
    const { marker } = await installation.read();
    this.seenId = marker?.id;
    return marker?.alarm === undefined ? undefined : dataLost(marker.alarm);
  }

  private whyLost(hasRecords: boolean, remembered: number): string | undefined {
    if (this.seenId) return 'the store was emptied while services ran';
    if (hasRecords) return 'the store has jobs and no mark of their installation: part of it is missing';
    if (remembered > 0) return `the store is empty, and the bus holds ${remembered} messages of jobs it does not know`;
    return undefined;
  }

  private newMarker(alarm: string | undefined): Installation {
    const created_at = new Date(this.boot.clock.nowMs()).toISOString();
    return { id: randomUUID(), created_at, ...(alarm && { alarm: `${alarm} (since ${created_at})` }) };
  }

  private tell(findings: readonly StoreFinding[]): void {
    const { log } = this.boot;
    const before = new Set(this.findings.map(({ code }) => code));
    const now = new Set<StoreFindingCode>(findings.map(({ code }) => code));
    for (const { code, severity, what, mend } of findings) {
      if (code === 'data_lost')
        log.oncePer('data lost', 600_000).error('store has lost data', { finding: code, what, mend });
      else if (!before.has(code)) {
        const level = severity === 'refuse' && this.boot.env.production ? 'error' : 'warn';
        log[level]('store is not safe', { finding: code, what, mend });
      }
    }
    for (const { code } of this.findings) if (!now.has(code)) log.info('store finding is gone', { finding: code });
    this.findings = findings;
    this.parts.metrics.storeFindings.replace(findings.map(({ code: finding }) => ({ labels: { finding }, value: 1 })));
  }
}

const dataLost = (what: string): StoreFinding => ({
  code: 'data_lost',
  severity: 'warn',
  what,
  mend: 'Restore the store from its copy, or accept the loss: HDEL svc:installation alarm. See docs/durability.md.',
});
