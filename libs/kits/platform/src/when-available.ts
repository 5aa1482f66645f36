import { isBusRejection } from '@svc/bus';
import {
  DependencyUnavailable,
  formatDuration,
  StartError,
  type Boot,
  type commonVariables,
  type EnvOf,
} from '@svc/runtime';
import { setTimeout as sleep } from 'node:timers/promises';

type WaitContext = Pick<Boot<EnvOf<typeof commonVariables>>, 'env' | 'log' | 'stopping'>;

const dependencies = { store: 'REDIS_URL', bus: 'NATS_URL' } as const;
const INITIAL_DELAY_MS = 100;
const MAX_DELAY_MS = 2_000;

/**
 * Runs a startup step and retries it while the dependency does not respond. The step must be safe to repeat.
 *
 * @throws DependencyUnavailable after `SVC_START_WAIT`; any other error of the step at once; AbortError when the
 *   process is stopping
 */
export async function whenAvailable<T>(
  { env, log, stopping }: WaitContext,
  dependency: keyof typeof dependencies,
  step: () => Promise<T>,
): Promise<T> {
  const addresses = getAddresses(dependency, env);
  const startedMs = performance.now();
  for (let delayMs = INITIAL_DELAY_MS; ; delayMs = Math.min(2 * delayMs, MAX_DELAY_MS)) {
    try {
      return await step();
    } catch (error) {
      if (!mayRecover(error)) throw error;
      const waitedMs = Math.round(performance.now() - startedMs);
      if (waitedMs + delayMs > env.startWaitMs) throw toUnavailable(dependency, addresses, env.startWaitMs, error);
      log
        .oncePer(`start:${dependency}`, 10_000)
        .warn(`${dependency} is not responding yet`, { addresses, waited_ms: waitedMs, error });
    }
    await sleep(delayMs, undefined, { signal: stopping });
  }
}

/** Whether a retry may succeed without a change of this process or its settings. */
function mayRecover(error: unknown): boolean {
  if (error instanceof StartError) return error instanceof DependencyUnavailable;
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) return false;
  // Errors with a path come from the file system: a setting names the wrong file.
  if (error instanceof Error && 'path' in error) return false;
  return !isBusRejection(error);
}

function toUnavailable(dependency: keyof typeof dependencies, addresses: string, limitMs: number, cause: unknown) {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new DependencyUnavailable(
    `the ${dependency} did not respond within ${formatDuration(limitMs)}`,
    addresses,
    `Start it, or correct ${dependencies[dependency]}. Last error: ${reason}`,
    { cause },
  );
}

/** Host and port only: a URL may contain a password. */
function getAddresses(dependency: keyof typeof dependencies, env: WaitContext['env']): string {
  const urls =
    dependency === 'bus'
      ? env.natsUrl.split(',')
      : env.redisClusterAddresses.length > 0
        ? env.redisClusterAddresses.map((address) => `redis://${address}`)
        : [env.redisUrl];
  return urls.map((url) => (URL.canParse(url.trim()) ? new URL(url.trim()).host : '')).join(',');
}
