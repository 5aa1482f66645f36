import type { License } from '@svc/identity';
import type { Boot, Logger } from '@svc/runtime';
import { keys } from '@svc/store';
import type { Redis } from 'ioredis';
import { startLoops } from './loops';

const CHECK_EVERY_MS = 1_000;

/**
 * Reads the license of this process again within a second of `requestLicenseReload`, and logs each change of its state, which
 * time causes too. While Redis is unavailable the license stays as it is.
 */
export function followLicense(
  { log, onStop }: Pick<Boot<unknown>, 'log' | 'onStop'>,
  redis: Redis,
  license: License,
): void {
  let seen: string | null | undefined;
  let logged = describeState(license);
  const check = async () => {
    const version = await redis.get(keys.licenseVersion());
    // The first check reads the license too: a request may precede it, but follow the read at start.
    if (version !== seen) license.reload();
    seen = version;
    const state = describeState(license);
    if (state !== logged) logLicense(log, license);
    logged = state;
  };
  const failed = (_: string, error: unknown) =>
    log.oncePer('license', 60_000).warn('checking for a new license failed', { error });
  onStop('license', startLoops([{ name: 'license', everyMs: CHECK_EVERY_MS, atStart: true, run: check }], failed));
}

/** Lets every process read its license again. Call it after the license was replaced. */
export const requestLicenseReload = async (redis: Redis): Promise<void> => {
  await redis.incr(keys.licenseVersion());
};

export function logLicense(log: Pick<Logger, 'info' | 'warn'>, license: Pick<License, 'state'>): void {
  const { plan, status, problem } = license.state();
  const level = status === 'active' ? 'info' : 'warn';
  log[level]('license', { plan, status, ...(problem && { problem }) });
}

const describeState = (license: Pick<License, 'state'>): string => {
  const { plan, status, problem, payload } = license.state();
  return [plan, status, problem, payload?.license_id].join('|');
};
