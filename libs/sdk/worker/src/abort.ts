import { JobAborted } from './errors';

/** The abort of one run. Most jobs never read their signal, so it is created on demand. */
export class Abort {
  reason: JobAborted | undefined;
  private controller: AbortController | undefined;
  private onAbort: ((reason: JobAborted) => void) | undefined;

  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController();
      if (this.reason) this.controller.abort(this.reason);
    }
    return this.controller.signal;
  }

  /** The first reason counts. */
  abort(reason: JobAborted): void {
    if (this.reason) return;
    this.reason = reason;
    this.controller?.abort(reason);
    this.onAbort?.(reason);
  }

  throwIfAborted(): void {
    if (this.reason) throw this.reason;
  }

  /** Waits for the handler; after an abort, for at most the grace period of the abort or of the worker. */
  withinGrace<T>(work: PromiseLike<T>, graceMs: number): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    return new Promise<T>((resolve, reject) => {
      const begin = (reason: JobAborted) => void (timer = setTimeout(() => reject(reason), reason.graceMs ?? graceMs));
      if (this.reason) begin(this.reason);
      else this.onAbort = begin;
      const settle = (end: () => void) => {
        this.onAbort = undefined;
        clearTimeout(timer);
        end();
      };
      work.then(
        (value) => settle(() => resolve(value)),
        (error: unknown) => settle(() => reject(error as Error)),
      );
    });
  }
}
