import { AppError } from '@svc/contract';
import { KernelUnavailable } from '@svc/kernel-client';
import { withTimeout } from '@svc/runtime';

const timeoutMs = 5_000;

/**
 * Asks the kernel within 5 s. That there is no answer and that the answer is an error are told apart.
 *
 * @throws safety_unavailable, upstream_service_error, and whatever of ours the kernel refuses the question with
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
