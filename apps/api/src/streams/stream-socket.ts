import type { gatewayMetrics, Logger, OpenMetrics } from '@svc/runtime';
import type { Frame } from '@svc/streams';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Admitted } from './admit-upgrade';

export interface SocketSettings {
  pingIntervalMs: number;
  pongTimeoutMs: number;
  writeTimeoutMs: number;
  revalidationMs: number;
  maxQueued: number;
}

export type StreamMetrics = OpenMetrics<typeof gatewayMetrics>['metrics'];
export type CloseReason = 'client_close' | 'ping_timeout' | 'revalidation_revoked' | 'slow_client' | 'shutdown';

/** WebSocket close codes. */
const closeCodes: Readonly<Record<CloseReason, number>> = {
  client_close: 1000,
  ping_timeout: 1011,
  revalidation_revoked: 1008,
  slow_client: 1013,
  shutdown: 1001,
};
/** Time for the client to answer the close frame. */
const CLOSE_WAIT_MS = 1_000;

export interface SocketDeps {
  metrics: StreamMetrics;
  settings: SocketSettings;
  log: Logger;
  nowMs(): number;
}

/** A connected stream client: pings, revalidation, and eviction when it reads too slowly. */
export class StreamSocket {
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  private readonly timers: NodeJS.Timeout[];
  /** Events that the kernel has not accepted, the oldest since `stuckSinceMs`. */
  private queued = 0;
  private confirmed = 0;
  private stuckSinceMs = 0;
  private pingedAtMs: number | undefined;
  private reason: CloseReason = 'client_close';
  private isClosing = false;
  private isCorked = false;

  /**
   * @param raw the connection below the socket, to write several events at once
   * @param credential whether it is still valid, and when to check that
   */
  constructor(
    readonly connId: string,
    private readonly socket: WebSocket,
    private readonly raw: Duplex,
    private readonly credential: Pick<Admitted, 'recheck' | 'followCredential'>,
    private readonly deps: SocketDeps,
  ) {
    const { settings, metrics, log, nowMs } = deps;
    const openedAtMs = nowMs();
    metrics.wsClients.inc();
    this.timers = [
      setInterval(() => this.ping(), settings.pingIntervalMs),
      setInterval(() => void this.revalidate(), settings.revalidationMs),
      setInterval(() => this.watch(), Math.min(1_000, settings.writeTimeoutMs, settings.pongTimeoutMs)),
    ];
    const unfollow = credential.followCredential(() => void this.revalidate());
    socket.on('pong', () => {
      metrics.wsPongs.inc();
      this.pingedAtMs = undefined;
    });
    // A frame over the limit, or an invalid one: the library closes the connection.
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.isClosing = true;
        unfollow();
        this.timers.forEach((timer) => clearInterval(timer));
        metrics.wsClients.dec();
        metrics.wsSeconds.observe((nowMs() - openedAtMs) / 1_000);
        log.info('stream closed', { conn_id: connId, reason: this.reason });
        resolve();
      });
    });
  }

  /** Sends an event, or disconnects a client that has too many unsent ones. */
  send(frame: Frame): void {
    if (this.isClosing) return;
    if (this.queued - this.confirmed >= this.deps.settings.maxQueued) return this.evict('buffer_full');
    // Events of one group leave in one write.
    if (!this.isCorked) {
      this.raw.cork();
      this.isCorked = true;
    }
    if (this.queued === this.confirmed) this.stuckSinceMs = this.deps.nowMs();
    this.queued += 1;
    this.socket.send(frame.bytes, sendOptions, this.onSent);
  }

  /** Writes the events that were sent since the last flush. */
  flush(): void {
    if (!this.isCorked) return;
    this.isCorked = false;
    this.raw.uncork();
  }

  close(reason: CloseReason): void {
    if (this.isClosing) return;
    this.isClosing = true;
    this.reason = reason;
    this.flush();
    this.socket.close(closeCodes[reason], reason);
    const cut = setTimeout(() => this.socket.terminate(), CLOSE_WAIT_MS);
    void this.closed.then(() => clearTimeout(cut));
  }

  private readonly onSent = (): void => {
    this.confirmed += 1;
    this.stuckSinceMs = this.deps.nowMs();
  };

  private evict(reason: 'buffer_full' | 'write_timeout'): void {
    const { metrics } = this.deps;
    metrics.wsEvictions.inc({ reason });
    metrics.wsPacketsDropped.inc(Math.max(1, this.queued - this.confirmed));
    this.close('slow_client');
    // It does not read, so the close frame would wait behind the unsent events.
    this.socket.terminate();
  }

  private ping(): void {
    if (this.isClosing || this.pingedAtMs !== undefined) return;
    this.pingedAtMs = this.deps.nowMs();
    this.deps.metrics.wsPings.inc();
    this.socket.ping();
  }

  private watch(): void {
    const { settings, metrics, nowMs } = this.deps;
    if (this.isClosing) return;
    if (this.queued > this.confirmed && nowMs() - this.stuckSinceMs > settings.writeTimeoutMs) {
      this.evict('write_timeout');
    } else if (this.pingedAtMs !== undefined && nowMs() - this.pingedAtMs > settings.pongTimeoutMs) {
      metrics.wsPongTimeouts.inc();
      this.close('ping_timeout');
    }
  }

  private async revalidate(): Promise<void> {
    const { metrics } = this.deps;
    if (this.isClosing) return;
    try {
      const isAllowed = await this.credential.recheck();
      metrics.wsRevalidations.inc({ outcome: isAllowed ? 'ok' : 'revoked' });
      if (!isAllowed) this.close('revalidation_revoked');
    } catch {
      // Without the store nothing is known about the credential; the next check decides.
      metrics.wsRevalidations.inc({ outcome: 'error' });
    }
  }
}

const sendOptions = { binary: false, compress: false } as const;
