import { AppError } from './errors';

interface TierLimit {
  /** For people, such as `there are 3 workers and the plan allows 3`. */
  message: string;
  /** Name of the entitlement, such as `max_workers`. */
  limit: string;
  /** Both are 0 when the plan lacks a feature. */
  current?: number;
  allowed?: number;
}

/** The error of a request that the license in effect does not allow. See docs/operations.md#license. */
export const tierLimit = ({ message, limit, current = 0, allowed = 0 }: TierLimit): AppError =>
  new AppError('tier_limit_exceeded', { message, limit, current, allowed, upgrade_url: '' });
