import type { Clock } from './clock';
import { withTimeout } from './with-timeout';

/**
 * Asks one dependency. It resolves when the dependency answers; it throws `NotReady` to say in public what is missing,
 * or anything else, of which the public learns only that it is unavailable.
 */
export type Check = () => Promise<unknown>;

/** A reason that may be shown to callers without credentials: no addresses, no driver messages. */
export class NotReady extends Error {
  override readonly name = 'NotReady';
}

/** What is known of a dependency, with the cause, for logs and admins. */
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
  /** How long a dependency may take to answer. */
  limitMs?: number;
  /** Called when a dependency fails or comes back, never for a repetition. */
  onChange?: (report: DependencyReport) => void;
}

/** Whether a process is alive, started, and able to serve. */
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

  /** Start-up is over. */
  started(): void {
    if (this.phase === 'starting') this.phase = 'serving';
  }

  /** The process is about to stop: `/readyz` answers 503 from now on. */
  drain(): void {
    this.phase = 'draining';
  }

  get isDraining(): boolean {
    return this.phase === 'draining';
  }

  /** `/healthz`: the process answers, so it is well; no dependency is asked. */
  healthz(): ProbeAnswer {
    return { status: 200, body: { status: 'ok', checks: { process: 'ok' } } };
  }

  /** `/livez`: 503 until start-up is over. */
  livez(): ProbeAnswer {
    return this.phase === 'starting'
      ? { status: 503, body: { status: 'degraded', checks: { startup: 'initializing' } } }
      : { status: 200, body: { status: 'ok', checks: { startup: 'complete' } } };
  }

  /** `/readyz`: 200 when started, not draining, and every dependency answered in time. */
  async readyz(): Promise<ProbeAnswer> {
    const reports = await this.report();
    const checks = Object.fromEntries(reports.map((report) => [report.name, publicText(report)]));
    if (this.phase === 'starting') checks.startup = 'initializing';
    if (this.phase === 'draining') checks.shutdown = 'draining';
    return Object.values(checks).every((text) => text === 'ok')
      ? { status: 200, body: { status: 'ok', checks } }
      : { status: 503, body: { status: 'degraded', checks } };
  }

  /** Asks every dependency. Callers at the same time share one round, so probes cannot pile up on a slow dependency. */
  report(): Promise<DependencyReport[]> {
    this.running ??= Promise.all([...this.checks].map(([name, check]) => this.ask(name, check))).finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async ask(name: string, check: Check): Promise<DependencyReport> {
    const { clock, limitMs = 1_000, onChange } = this.options;
    const askedMs = clock.nowMs();
    const { ok, error } = await outcomeOf(check, limitMs);
    const before = this.known.get(name);
    const sinceMs = before?.ok === ok ? before.sinceMs : clock.nowMs();
    const report = { name, ok, sinceMs, durationMs: clock.nowMs() - askedMs, ...(!ok && { error }) };
    this.known.set(name, report);
    // A dependency that is well from the start is no news; one that fails from the start is.
    if (before ? before.ok !== ok : !ok) onChange?.(report);
    return report;
  }
}

async function outcomeOf(check: Check, limitMs: number): Promise<{ ok: boolean; error?: unknown }> {
  try {
    await withTimeout(check(), limitMs, () => new NotReady(`no answer within ${limitMs} ms`));
    return { ok: true };
  } catch (error) {
    return { ok: false, error };
  }
}

function publicText({ ok, sinceMs, error }: DependencyReport): string {
  if (ok) return 'ok';
  return `${error instanceof NotReady ? error.message : 'unavailable'}, since ${new Date(sinceMs).toISOString()}`;
}
