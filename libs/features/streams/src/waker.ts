/** Wakes a reader that waits for changes; a wake while it reads is kept. */
export class Waker {
  private isAwake = false;
  private resume: () => void = () => undefined;

  readonly wake = (): void => {
    this.isAwake = true;
    this.resume();
  };

  /** Resolves after a wake, when the time is over, or when the signal is aborted. */
  async wait(forMs: number, signal: AbortSignal): Promise<void> {
    if (!this.isAwake && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, forMs);
        this.resume = () => {
          clearTimeout(timer);
          resolve();
        };
        signal.addEventListener('abort', this.resume, { once: true });
      });
      signal.removeEventListener('abort', this.resume);
      this.resume = () => undefined;
    }
    this.isAwake = false;
  }
}
