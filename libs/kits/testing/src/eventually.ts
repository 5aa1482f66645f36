export interface Patience {
  /** How long to keep asking, in milliseconds. */
  withinMs?: number;
  everyMs?: number;
}

/**
 * Asks until the check neither throws nor answers `false`, `undefined` from a lookup being an answer like any other:
 * put `expect` inside the check. The answer is handed on; the last failure is thrown when time is up.
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
