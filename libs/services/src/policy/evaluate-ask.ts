import { AppError } from '@svc/contract';
import { KernelUnavailable } from '@svc/kernel-client';

const timeoutMs = 5_000;

/**
 * Asks the kernel within 5 s. That there is no answer and that the answer is an error are told apart. Policy contract 1.
 *
 * @throws safety_unavailable, upstream_service_error, and whatever of ours the kernel refuses the question with
 */
export async function askKernel<T>(ask: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new KernelUnavailable(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([ask(), silence]);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const isSilent = error instanceof KernelUnavailable && !error.answered;
    throw isSilent
      ? new AppError('safety_unavailable', {}, { 'Retry-After': '5' })
      : new AppError('upstream_service_error');
  } finally {
    clearTimeout(timer);
  }
}
