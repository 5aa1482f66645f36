import { SharedBreaker } from '../breaker/shared-breaker';
import { kernelEvents } from '../events';
import type { Kernel } from '../kernel';
import type { KernelDeps } from '../local/open-local-kernel';
import { KernelConnection, type ConnectionSettings } from './kernel-connection';
import { RemoteKernel, type CallLimits } from './remote-kernel';

export interface RemoteKernelSettings extends ConnectionSettings {
  limits?: CallLimits;
}

const defaultLimits: CallLimits = { policyMs: 3_000, metadataMs: 1_000, contentMs: 30_000 };

/**
 * Opens a remote kernel, which may be unavailable: requests then fail until the breaker opens.
 *
 * @throws StartError for an invalid TLS file
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
    limits: settings.limits ?? defaultLimits,
    nowMs,
  });
}
