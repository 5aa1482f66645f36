import { AppError } from '@svc/contract';
import type { ServerResponse } from 'node:http';
import { addressBucket } from './client-address';
import type { RateLimiter } from './rate-limiter';

/** Bucket of unauthenticated requests. */
export const publicBucket = (ip: string): string => `public:${addressBucket(ip)}`;

/** Bucket of requests with rejected credentials. */
export const guessBucket = (ip: string): string => `ip:${addressBucket(ip)}`;

/** @throws rate_limited */
export async function takeRate(res: ServerResponse, limiter: RateLimiter, bucket: string): Promise<void> {
  const { allowed, headers } = await limiter(bucket);
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (!allowed) throw new AppError('rate_limited');
}
