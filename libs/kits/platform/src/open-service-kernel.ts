import { alertPacket, subjects } from '@svc/contract';
import { kernelSettings, openKernel, type Kernel, type KernelDeps, type LoadReport } from '@svc/kernel-client';
import { velocityRulesInForce } from '@svc/identity';
import type { ApiEnv, Boot, EngineEnv, SchedulerEnv } from '@svc/runtime';
import { randomUUID } from 'node:crypto';
import type { Platform } from './open-platform';
import { whenAvailable } from './when-available';

/** Reason a policy or scanner document was rejected; the last valid one stays in effect. */
export interface PolicyFinding {
  of: 'policy' | 'scanners';
  problem: string;
}

export interface ServiceKernel {
  kernel: Kernel;
  policyFindings(): readonly PolicyFinding[];
}

/**
 * Opens the kernel of a service. A policy that is rejected while the service runs does not take effect. The rejection and its
 * resolution are reported in the log and metrics, as an alert on the bus, and to admins in the status.
 *
 * @throws StartError
 */
export async function openServiceKernel(
  boot: Boot<ApiEnv | EngineEnv | SchedulerEnv>,
  platform: Platform,
  metrics: NonNullable<KernelDeps['metrics']>,
  hooks: Pick<KernelDeps, 'onBreakerTrip'> = {},
): Promise<ServiceKernel> {
  const { env, log, clock, onStop } = boot;
  const watch = new PolicyWatch(boot, platform);
  const deps: KernelDeps = {
    redis: platform.store.redis,
    log,
    clock,
    metrics,
    ...hooks,
    maxVelocityRules: () => velocityRulesInForce(platform.license.entitlements()),
    onReload: (report) => watch.update(report),
  };
  const kernel = await whenAvailable(boot, 'store', () => openKernel(kernelSettings(env), deps));
  onStop('kernel', () => kernel.close());
  return { kernel, policyFindings: () => watch.findings };
}

class PolicyWatch {
  private readonly problems: Record<PolicyFinding['of'], readonly string[]> = { policy: [], scanners: [] };

  constructor(
    private readonly boot: Boot<ApiEnv | EngineEnv | SchedulerEnv>,
    private readonly platform: Platform,
  ) {}

  get findings(): PolicyFinding[] {
    return (['policy', 'scanners'] as const).flatMap((of) => this.problems[of].map((problem) => ({ of, problem })));
  }

  /** Publishes an alert only if the problems changed: a rejected document is loaded again at every interval. */
  update(report: LoadReport): void {
    const { what } = report;
    const before = this.problems[what];
    const now = report.kind === 'refused' ? report.problems : [];
    this.problems[what] = now;
    if (JSON.stringify(now) === JSON.stringify(before)) return;
    const message =
      now.length > 0 ? `a new ${what} was rejected and the last good one stays in effect` : `the ${what} is good again`;
    void this.alert(now.length > 0 ? 'critical' : 'info', message, now).catch((error: unknown) =>
      this.boot.log.warn('alert was not published', { error }),
    );
  }

  private async alert(severity: 'critical' | 'info', message: string, problems: readonly string[]): Promise<void> {
    const { senderId, bus } = this.platform;
    const head = { trace_id: randomUUID(), sender_id: senderId, nowUs: this.boot.clock.nowUs() };
    const details = Object.fromEntries(
      problems.slice(0, MAX_PROBLEMS).map((problem, i) => [`problem_${i + 1}`, problem]),
    );
    await bus.publish(subjects.alert.name, alertPacket(head, { severity, message, details }));
  }
}

const MAX_PROBLEMS = 10;
