import { AppError } from '@svc/contract';
import { KernelUnavailable } from '@svc/kernel-client';
import { withTimeout } from '@svc/runtime';

const timeoutMs = 5_000;

/**
 * Calls the kernel with a timeout of 5 s. A missing answer and an error answer have different codes.
 *
 * @throws safety_unavailable, upstream_service_error, and our own codes with which the kernel rejects the request
 */
export async function askKernel<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await withTimeout(ask(), timeoutMs, () => new KernelUnavailable(`no answer within ${timeoutMs} ms`));
  } catch (error) {
    if (error instanceof AppError) throw error;
    const isSilent = error instanceof KernelUnavailable && !error.answered;
    throw isSilent
      ? new AppError('safety_unavailable', {}, { 'Retry-After': '5' })
      : new AppError('upstream_service_error');
  }
}
