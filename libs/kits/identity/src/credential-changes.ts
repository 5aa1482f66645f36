/** How the credential of a request is named in notices, and when it ends. None of it is secret. */
export interface CredentialRef {
  /** `apikey:<16 hex>` or the id of a managed key, `user:<id>`, `session:<16 hex>`, `jwt:<16 hex>`; empty for callers without one. */
  ids: readonly string[];
  /** Unix ms; absent = it does not expire. */
  expiresAtMs?: number;
}

/** A timer may fire early by the resolution of the clock. */
const EXPIRY_MARGIN_MS = 50;
/** Timers cannot wait longer; the regular check of a stream finds later expiries. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Lets open streams check their credential again when it may have ended: at its expiry, and upon `changed` or
 * `anyChanged`. A change that is not reported here is found by the regular check of each stream.
 */
export class CredentialChanges {
  private readonly checks = new Map<string, Set<() => void>>();
  private readonly all = new Set<() => void>();
  private readonly listeners: ((id: string | undefined) => void)[] = [];

  constructor(private readonly nowMs: () => number) {}

  /**
   * Calls `check` now, since the credential may have ended after it was verified, and whenever it may have ended.
   *
   * @param check must not throw
   * @returns a function that ends this; safe to repeat
   */
  readonly follow = ({ ids, expiresAtMs = Infinity }: CredentialRef, check: () => void): (() => void) => {
    // A function of its own, so that two streams with one function are two followers.
    const follower = () => check();
    const leftMs = Math.max(0, expiresAtMs - this.nowMs()) + EXPIRY_MARGIN_MS;
    const expiry = leftMs <= MAX_TIMER_MS ? setTimeout(follower, leftMs).unref() : undefined;
    this.all.add(follower);
    for (const id of ids) this.checks.set(id, (this.checks.get(id) ?? new Set()).add(follower));
    follower();
    return () => {
      clearTimeout(expiry);
      this.all.delete(follower);
      for (const id of ids) {
        const followers = this.checks.get(id);
        followers?.delete(follower);
        if (followers?.size === 0) this.checks.delete(id);
      }
    };
  };

  /** Calls back with the id of each credential that changed, before its streams are checked; undefined = any may have. */
  readonly onChange = (listener: (id: string | undefined) => void): void => void this.listeners.push(listener);

  /** A credential was revoked or changed. */
  changed(id: string): void {
    for (const listener of this.listeners) listener(id);
    for (const check of [...(this.checks.get(id) ?? [])]) check();
  }

  /** Any credential may have been revoked or changed. */
  anyChanged(): void {
    for (const listener of this.listeners) listener(undefined);
    for (const check of [...this.all]) check();
  }
}
