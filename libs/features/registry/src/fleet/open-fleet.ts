import type { EngineEnv, Logger } from '@svc/runtime';
import type { Store } from '@svc/store';
import { ConfiguredFleet } from './configured-fleet';
import { openFleetFiles, type FleetFiles } from './fleet-files';

export type FleetEnv = Pick<EngineEnv, 'poolConfigPath' | 'timeoutConfigPath' | 'production'>;

/**
 * Opens the pools and timeouts of a service: the files, and the config document that replaces them.
 *
 * @param onFileChanged called after a file was reloaded
 * @throws when a file cannot be read or has an error
 */
export async function openFleet(
  { env, log }: { env: FleetEnv; log: Logger },
  store: Pick<Store, 'config'>,
  onFileChanged: () => void = () => undefined,
): Promise<{ fleet: ConfiguredFleet; files: FleetFiles }> {
  const hooks = {
    onProblem: (problem: string) =>
      log.error('pools or timeouts are invalid; the last valid version stays in effect', { problem }),
    onChange: (file: string) => {
      log.info('file reloaded', { file });
      onFileChanged();
    },
  };
  const paths = { poolsPath: env.poolConfigPath, timeoutsPath: env.timeoutConfigPath, production: env.production };
  const files = await openFleetFiles(paths, hooks);
  return { files, fleet: new ConfiguredFleet(files, store, env, hooks) };
}
