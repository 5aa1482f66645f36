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

type Waiting = Pick<Boot<EnvOf<typeof commonVariables>>, 'env' | 'log' | 'stopping'>;

const dependencies = { store: 'REDIS_URL', bus: 'NATS_URL' } as const;
const firstPauseMs = 100;
const maxPauseMs = 2_000;

/**
 * Runs a step of the start, and repeats it while the dependency does not answer. The step must be safe to repeat.
 *
 * @throws DependencyUnavailable after `SVC_START_WAIT`; any other error of the step at once; an AbortError when the
 *   process is to stop
 */
export async function whenAvailable<T>(
  { env, log, stopping }: Waiting,
  dependency: keyof typeof dependencies,
  step: () => Promise<T>,
): Promise<T> {
  const addresses = addressesOf(dependency, env);
  const startedMs = performance.now();
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    try {
      return await step();
    } catch (error) {
      if (!mayRecover(error)) throw error;
      const waitedMs = Math.round(performance.now() - startedMs);
      if (waitedMs + pauseMs > env.startWaitMs) throw gaveUp(dependency, addresses, env.startWaitMs, error);
      log
        .oncePer(`start:${dependency}`, 10_000)
        .warn(`${dependency} does not answer yet`, { addresses, waited_ms: waitedMs, error });
    }
    await sleep(pauseMs, undefined, { signal: stopping });
  }
}

/** Whether the same step may succeed later without a change of this process or its settings. */
function mayRecover(error: unknown): boolean {
  if (error instanceof StartError) return error instanceof DependencyUnavailable;
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) return false;
  // Errors of the file system name a path; a setting names the wrong file.
  if (error instanceof Error && 'path' in error) return false;
  return !isBusRejection(error);
}

function gaveUp(dependency: keyof typeof dependencies, addresses: string, limitMs: number, cause: unknown) {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new DependencyUnavailable(
    `the ${dependency} did not answer within ${formatDuration(limitMs)}`,
    addresses,
    `Start it, or correct ${dependencies[dependency]}. Last error: ${reason}`,
    { cause },
  );
}

/** Host and port only: a URL may carry a password. */
function addressesOf(dependency: keyof typeof dependencies, env: Waiting['env']): string {
  const urls =
    dependency === 'bus'
      ? env.natsUrl.split(',')
      : env.redisClusterAddresses.length > 0
        ? env.redisClusterAddresses.map((address) => `redis://${address}`)
        : [env.redisUrl];
  return urls.map((url) => (URL.canParse(url.trim()) ? new URL(url.trim()).host : '')).join(',');
}
