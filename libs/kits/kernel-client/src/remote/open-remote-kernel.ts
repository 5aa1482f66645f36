import { SharedBreaker } from '../breaker/shared-breaker';
import { kernelEvents } from '../events';
import type { Kernel } from '../kernel';
import type { KernelDeps } from '../local/open-local-kernel';
import { KernelConnection, type ConnectionSettings } from './kernel-connection';
import { RemoteKernel, type CallLimits } from './remote-kernel';

export interface RemoteKernelSettings extends ConnectionSettings {
  limits?: CallLimits;
}

const standardLimits: CallLimits = { policyMs: 3_000, metadataMs: 1_000, contentMs: 30_000 };

/**
 * Opens the kernel at an address. It is there even while the kernel is not: questions then fail, and after a few the
 * breaker is open.
 *
 * @throws StartError naming a TLS file that cannot be used
 */
export async function openRemoteKernel(settings: RemoteKernelSettings, deps: KernelDeps): Promise<Kernel> {
  const { redis, log, clock, metrics, onBreakerTrip } = deps;
  const logged = kernelEvents(log, metrics);
  const events: typeof logged = {
    ...logged,
    breakerMoved(name, state) {
      logged.breakerMoved(name, state);
      if (state === 'open') onBreakerTrip?.(name);
    },
  };
  const nowMs = () => clock.nowMs();
  return new RemoteKernel({
    connection: await KernelConnection.open(settings, nowMs),
    breakers: {
      input: new SharedBreaker('input', redis, nowMs, events),
      output: new SharedBreaker('output', redis, nowMs, events),
    },
    limits: settings.limits ?? standardLimits,
    nowMs,
  });
}
