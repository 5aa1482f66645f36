import type { AuditAct } from '@svc/contract';
import { addressBucket, type RefusedRequest } from '@svc/http';

/** Refusals of one kind from one address are one event in this time, after the first, which is recorded at once. */
const WINDOW_MS = 10_000;
/** Addresses and kinds that have an event of their own in a window. */
const MAX_SOURCES = 16;
/** Events that name their source in an hour; the others are counted together, one event for each code and window. */
const MAX_EVENTS_PER_HOUR = 500;
const MAX_PATH_CHARS = 128;
const HOUR_MS = 3_600_000;

interface Refusals {
  newest: RefusedRequest;
  /** Refusals that are not recorded yet. */
  count: number;
  fromMs: number;
  toMs: number;
  /** '' = of several addresses. */
  address: string;
}

export interface RefusedCredentialsDeps {
  record(act: AuditAct): Promise<void>;
  onUnrecorded(error: unknown): void;
  nowMs(): number;
}

/**
 * Records refused credentials, so that a flood of them cannot fill a chain: the number of events is bounded, and each has the
 * number of refusals that it stands for. A process that dies loses the count of its last ten seconds.
 * See docs/reference/audit.md#sign-ins.
 */
export class RefusedCredentials {
  private readonly windows = new Map<string, Refusals>();
  private hourEndsMs = 0;
  private eventsLeft = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly deps: RefusedCredentialsDeps) {}

  /** A request without any credential is not recorded: no one has tried one. */
  note(refused: RefusedRequest): void {
    if (refused.credential === 'none') return;
    const nowMs = this.deps.nowMs();
    const { code, credential, method, ip } = refused;
    const address = addressBucket(ip);
    const own = `${code} ${credential} ${method} ${address}`;
    const open = this.windows.get(own);
    if (open) return count(open, refused, nowMs);
    const one = { newest: refused, fromMs: nowMs, toMs: nowMs };
    if (this.windows.size < MAX_SOURCES && this.takesEvent(nowMs)) {
      this.windows.set(own, { ...one, count: 0, address });
      void this.record({ ...one, count: 1, address });
    } else {
      const shared = this.windows.get(code);
      if (shared) count(shared, refused, nowMs);
      else this.windows.set(code, { ...one, count: 1, address: '' });
    }
    this.timer ??= setTimeout(() => void this.flush(), WINDOW_MS).unref();
  }

  /** Ends the windows, and records what was counted in them. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const ended = [...this.windows.values()].filter((refusals) => refusals.count > 0);
    this.windows.clear();
    await Promise.all(ended.map((refusals) => this.record(refusals)));
  }

  private async record(refusals: Refusals): Promise<void> {
    await this.deps.record(toAct(refusals)).catch((error: unknown) => this.deps.onUnrecorded(error));
  }

  private takesEvent(nowMs: number): boolean {
    if (nowMs >= this.hourEndsMs) [this.hourEndsMs, this.eventsLeft] = [nowMs + HOUR_MS, MAX_EVENTS_PER_HOUR];
    if (this.eventsLeft === 0) return false;
    // The one that is recorded at once, and that of the window.
    this.eventsLeft -= 2;
    return true;
  }
}

function count(open: Refusals, newest: RefusedRequest, nowMs: number): void {
  open.count += 1;
  open.toMs = nowMs;
  open.newest = newest;
}

const toAct = ({ newest, count: times, fromMs, toMs, address }: Refusals): AuditAct => ({
  event_type: 'system.auth',
  action: 'auth.failure',
  severity: 'MEDIUM',
  decision: 'deny',
  reason: newest.code,
  extra: {
    ...(address
      ? { source_ip: address, auth_method: newest.credential, method: newest.method, request_id: newest.requestId }
      : { source: 'several' }),
    path: newest.path.slice(0, MAX_PATH_CHARS),
    count: String(times),
    first_at: new Date(fromMs).toISOString(),
    last_at: new Date(toMs).toISOString(),
  },
});
