export interface Patience {
  /** Time limit in milliseconds. */
  withinMs?: number;
  everyMs?: number;
}

/**
 * Repeats the check until it neither throws nor returns `false`. `undefined` counts as success, so put `expect` inside the
 * check. Returns the result of the check; throws the last failure after the time limit.
 */
export async function eventually<T>(check: () => T | Promise<T>, { withinMs = 10_000, everyMs = 10 }: Patience = {}) {
  const deadlineMs = Date.now() + withinMs;
  for (;;) {
    let failure: unknown = new Error(`still false after ${withinMs} ms: ${check.toString().slice(0, 200)}`);
    try {
      const answer = await check();
      if (answer !== false) return answer;
    } catch (error) {
      failure = error;
    }
    if (Date.now() >= deadlineMs) throw failure;
    await new Promise((resume) => setTimeout(resume, everyMs));
  }
}
