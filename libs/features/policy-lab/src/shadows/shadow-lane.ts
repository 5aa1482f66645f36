export interface LaneLimits {
  /** Maximum concurrency. */
  atOnce: number;
  /** Maximum length of the queue, and maximum total weight. */
  maxWaiting: number;
  maxWeight: number;
}

/** Why work was not accepted, or not executed. */
export type Dropped = 'queue_full' | 'closed';

export interface LaneEvents {
  waiting(count: number): void;
  dropped(reason: Dropped, count: number): void;
}

/** Synchronous work completes in the turn it starts in, so other callbacks get a turn in between. */
const MAX_PER_TURN = 8;

/**
 * Executes best-effort work with bounded concurrency and a bounded queue; the overflow is dropped and reported. Work
 * starts in a later turn of the event loop, so that offering it costs the caller nothing.
 */
export class Lane<T> {
  private readonly waiting: { item: T; weight: number }[] = [];
  private weight = 0;
  private underWay = 0;
  private isScheduled = false;
  private isClosed = false;
  private onIdle: (() => void) | undefined;

  /** @param work must not throw */
  constructor(
    private readonly work: (item: T) => Promise<void>,
    private readonly limits: LaneLimits,
    private readonly events: LaneEvents,
  ) {}

  /** @param weight cost of queueing it, such as its size */
  offer(item: T, weight: number): void {
    if (this.isClosed) return this.events.dropped('closed', 1);
    const { maxWaiting, maxWeight } = this.limits;
    const isFull = this.waiting.length >= maxWaiting || (this.waiting.length > 0 && this.weight + weight > maxWeight);
    if (isFull) return this.events.dropped('queue_full', 1);
    this.waiting.push({ item, weight });
    this.weight += weight;
    this.events.waiting(this.waiting.length);
    this.schedule();
  }

  /** Accepts no more, and executes the queue as far as the time allows. */
  async close(withinMs: number): Promise<void> {
    this.isClosed = true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, withinMs)));
    await Promise.race([this.idle(), late]);
    clearTimeout(timer);
    const left = this.waiting.splice(0).length + this.underWay;
    if (left > 0) this.events.dropped('closed', left);
    this.events.waiting(0);
  }

  private idle(): Promise<void> {
    return this.isIdle ? Promise.resolve() : new Promise((resolve) => (this.onIdle = resolve));
  }

  private get isIdle(): boolean {
    return this.underWay === 0 && this.waiting.length === 0;
  }

  private schedule(): void {
    if (this.isScheduled || this.underWay >= this.limits.atOnce || this.waiting.length === 0) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.begin();
    });
  }

  private begin(): void {
    for (let begun = 0; begun < MAX_PER_TURN && this.underWay < this.limits.atOnce; begun++) {
      const next = this.waiting.shift();
      if (!next) break;
      this.weight -= next.weight;
      this.underWay += 1;
      void this.work(next.item).finally(() => {
        this.underWay -= 1;
        this.schedule();
        if (this.isIdle) this.onIdle?.();
      });
    }
    this.events.waiting(this.waiting.length);
    this.schedule();
  }
}
