import type { Bus } from '@svc/bus';
import type { License } from '@svc/identity';
import type { JobBus, LicenseLimits } from './ports';

/** Narrows the bus to the port that features publish through. */
export const jobBus = (bus: Pick<Bus, 'publish' | 'publishDurable'>): JobBus => ({
  publish: async (...args) => bus.publish(...args),
  publishDurable: (...args) => bus.publishDurable(...args),
});

/** Reads the limits of the license at each call: the license may be replaced while the service runs. */
export const licenseLimits = (license: Pick<License, 'entitlements'>) => (): LicenseLimits => {
  const { max_workers, max_concurrent_jobs, max_prompt_chars } = license.entitlements();
  return { maxWorkers: max_workers, maxConcurrentJobs: max_concurrent_jobs, maxPromptChars: max_prompt_chars };
};
