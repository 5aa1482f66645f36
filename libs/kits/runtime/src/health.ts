import type { Clock } from './clock';
import { withTimeout } from './with-timeout';

/**
 * Checks one dependency. Resolves when it is available. Throws `NotReady` with a public reason; any other error is
 * published as "unavailable" only.
 */
export type Check = () => Promise<unknown>;

/** A reason that may be shown to callers without credentials: no addresses, no driver messages. */
export class NotReady extends Error {
  override readonly name = 'NotReady';
}

/** State of a dependency with its cause, for logs and admins. */
export interface DependencyReport {
  name: string;
  ok: boolean;
  /** Since when it has been in this state, milliseconds since 1970. */
  sinceMs: number;
  durationMs: number;
  error?: unknown;
}

/** The body of a probe. */
export interface ProbeAnswer {
  status: 200 | 503;
  body: { status: 'ok' | 'degraded'; checks: Record<string, string> };
}

export interface HealthOptions {
  clock: Pick<Clock, 'nowMs'>;
  /** Timeout of a check. */
  limitMs?: number;
  /** Called when a dependency fails or recovers, once per change. */
  onChange?: (report: DependencyReport) => void;
}

/** Liveness, startup and readiness of a process. */
export class Health {
  private readonly checks = new Map<string, Check>();
  private readonly known = new Map<string, DependencyReport>();
  private phase: 'starting' | 'serving' | 'draining' = 'starting';
  private running: Promise<DependencyReport[]> | undefined;

  constructor(private readonly options: HealthOptions) {}

  /** Adds a dependency without which the process cannot serve. */
  dependsOn(name: string, check: Check): void {
    this.checks.set(name, check);
  }

  /** Marks startup as complete. */
  started(): void {
    if (this.phase === 'starting') this.phase = 'serving';
  }

  /** Marks the process as draining: `/readyz` answers 503 from now on. */
  drain(): void {
    this.phase = 'draining';
  }

  get isDraining(): boolean {
    return this.phase === 'draining';
  }

  /** `/healthz`: 200 while the process responds; does not check dependencies. */
  healthz(): ProbeAnswer {
    return { status: 200, body: { status: 'ok', checks: { process: 'ok' } } };
  }

  /** `/livez`: 503 until startup is complete. */
  livez(): ProbeAnswer {
    return this.phase === 'starting'
      ? { status: 503, body: { status: 'degraded', checks: { startup: 'initializing' } } }
      : { status: 200, body: { status: 'ok', checks: { startup: 'complete' } } };
  }

  /** `/readyz`: 200 when started, not draining, and all dependencies are available. */
  async readyz(): Promise<ProbeAnswer> {
    const reports = await this.report();
    const checks = Object.fromEntries(reports.map((report) => [report.name, toPublicText(report)]));
    if (this.phase === 'starting') checks.startup = 'initializing';
    if (this.phase === 'draining') checks.shutdown = 'draining';
    return Object.values(checks).every((text) => text === 'ok')
      ? { status: 200, body: { status: 'ok', checks } }
      : { status: 503, body: { status: 'degraded', checks } };
  }

  /** Checks all dependencies. Concurrent callers share one round, so probes cannot pile up on a slow dependency. */
  report(): Promise<DependencyReport[]> {
    this.running ??= Promise.all([...this.checks].map(([name, check]) => this.check(name, check))).finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async check(name: string, check: Check): Promise<DependencyReport> {
    const { clock, limitMs = 1_000, onChange } = this.options;
    const startedMs = clock.nowMs();
    const { ok, error } = await runCheck(check, limitMs);
    const before = this.known.get(name);
    const sinceMs = before?.ok === ok ? before.sinceMs : clock.nowMs();
    const report = { name, ok, sinceMs, durationMs: clock.nowMs() - startedMs, ...(!ok && { error }) };
    this.known.set(name, report);
    // A dependency that is available from the start is not a change; one that is unavailable is.
    if (before ? before.ok !== ok : !ok) onChange?.(report);
    return report;
  }
}

async function runCheck(check: Check, limitMs: number): Promise<{ ok: boolean; error?: unknown }> {
  try {
    await withTimeout(check(), limitMs, () => new NotReady(`no answer within ${limitMs} ms`));
    return { ok: true };
  } catch (error) {
    return { ok: false, error };
  }
}

function toPublicText({ ok, sinceMs, error }: DependencyReport): string {
  if (ok) return 'ok';
  return `${error instanceof NotReady ? error.message : 'unavailable'}, since ${new Date(sinceMs).toISOString()}`;
}
