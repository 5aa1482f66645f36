/** Work did not settle within its time limit. */
export class TimeLimitError extends Error {}

/**
 * Settles as the work does, or rejects at the limit. The work itself is not stopped; its later outcome is ignored.
 *
 * @throws timeoutError, by default a TimeLimitError that names the limit
 */
export function withTimeout<T>(
  work: Promise<T>,
  limitMs: number,
  timeoutError: () => Error = () => new TimeLimitError(`no answer within ${limitMs} ms`),
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(timeoutError()), limitMs);
    // No `finally`: it would make two more promises for every request.
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
