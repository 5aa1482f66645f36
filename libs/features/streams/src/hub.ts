import { AppError, everyTenant, type TenantScope } from '@svc/contract';
import { withTimeout } from '@svc/runtime';
import { Frame, type EventClass, type StreamEvent } from './stream-event';

/** A client of the hub. It receives the events that all its conditions match. */
export interface Subscriber {
  /** Tenant, or every tenant. */
  scope: TenantScope;
  classes: ReadonlySet<EventClass>;
  jobId?: string;
  runId?: string;
  deliver(frame: Frame): void;
  /** Called after a group of events was delivered. */
  flush?(): void;
  /** Events may have been missed. */
  onGap?(): void;
}

/** Where events come from; subscribed to only while there are subscribers. */
export interface EventSource {
  /** Resolves when every later event is delivered. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface HubHooks {
  /** Events that were dropped for all clients, because they arrived faster than they could be delivered. */
  onDropped(count: number): void;
  onError(error: unknown): void;
}

/** Events delivered before the sockets are flushed; clients with room for fewer would be taken for slow ones. */
const GROUP_SIZE = 50;
/** Subscriptions are kept for a while after the last client, which may reconnect. */
const LINGER_MS = 30_000;

/** Time for the source to start; a store or bus that hangs must not hold connections that are not accepted yet. */
const START_TIMEOUT_MS = 5_000;

const all = 'all';
const ofTenant = (tenant: string) => `tenant ${tenant}`;
const ofJob = (id: string) => `job ${id}`;
const ofRun = (id: string) => `run ${id}`;

/** Delivers events to the stream clients of this process. The tenant is checked before an event becomes text. */
export class StreamHub {
  private readonly groups = new Map<string, Set<Subscriber>>();
  private readonly queue: StreamEvent[] = [];
  private count = 0;
  private isDraining = false;
  private linger: NodeJS.Timeout | undefined;
  private source: EventSource | undefined;

  /**
   * @param maxQueued events that wait for delivery; further ones are dropped
   * @param startTimeoutMs time limit of `subscribe`
   */
  constructor(
    private readonly hooks: HubHooks,
    private readonly maxQueued = 512,
    private readonly startTimeoutMs = START_TIMEOUT_MS,
  ) {}

  /** Sets the source of events. Call it once, before the first subscriber. */
  connect(source: EventSource): void {
    this.source = source;
  }

  /** Whether a subscriber receives events that belong to no tenant. */
  get hasAllTenants(): boolean {
    for (const { scope } of this.groups.get(all) ?? []) if (scope === everyTenant) return true;
    return false;
  }

  /**
   * Resolves when every later event is delivered to the subscriber.
   *
   * @returns a function that ends the subscription
   * @throws service_unavailable when the source does not start in time
   */
  async subscribe(subscriber: Subscriber): Promise<() => void> {
    const group = chooseGroup(subscriber);
    const members = this.groups.get(group) ?? new Set();
    this.groups.set(group, members.add(subscriber));
    this.count += 1;
    clearTimeout(this.linger);
    let isOpen = true;
    const close = () => {
      if (!isOpen) return;
      isOpen = false;
      members.delete(subscriber);
      if (members.size === 0 && this.groups.get(group) === members) this.groups.delete(group);
      this.count -= 1;
      if (this.count === 0) this.linger = setTimeout(() => this.stopSource(), LINGER_MS).unref();
    };
    try {
      if (this.source) await withTimeout(this.source.start(), this.startTimeoutMs, notStarted);
    } catch (error) {
      close();
      throw error;
    }
    return close;
  }

  publish(event: StreamEvent): void {
    if (this.count === 0) return;
    if (this.queue.length >= this.maxQueued) {
      this.hooks.onDropped(1);
      this.reportGap();
      return;
    }
    this.queue.push(event);
    if (this.isDraining) return;
    this.isDraining = true;
    process.nextTick(() => this.drain());
  }

  /** Notifies subscribers that read from a record: they may have missed events. */
  reportGap(): void {
    for (const members of this.groups.values()) for (const { onGap } of members) onGap?.();
  }

  async close(): Promise<void> {
    clearTimeout(this.linger);
    this.groups.clear();
    this.count = 0;
    await this.source?.stop();
  }

  private stopSource(): void {
    if (this.count === 0) this.source?.stop().catch((error: unknown) => this.hooks.onError(error));
  }

  /** In groups: between two of them the sockets confirm what the kernel has accepted. */
  private drain(): void {
    const reached = new Set<Subscriber>();
    for (const event of this.queue.splice(0, GROUP_SIZE)) this.deliver(event, reached);
    for (const { flush } of reached) flush?.();
    if (this.queue.length > 0) process.nextTick(() => this.drain());
    else this.isDraining = false;
  }

  private deliver(event: StreamEvent, reached: Set<Subscriber>): void {
    const frame = new Frame(event);
    for (const group of findGroups(event)) {
      for (const subscriber of this.groups.get(group) ?? []) {
        if (!maySee(subscriber, event)) continue;
        reached.add(subscriber);
        try {
          subscriber.deliver(frame);
        } catch (error) {
          this.hooks.onError(error);
        }
      }
    }
  }
}

const notStarted = () => new AppError('service_unavailable', {}, { 'Retry-After': '2' });

function chooseGroup({ scope, jobId, runId }: Subscriber): string {
  if (jobId !== undefined) return ofJob(jobId);
  if (runId !== undefined) return ofRun(runId);
  return scope === everyTenant ? all : ofTenant(scope);
}

const findGroups = ({ tenant, jobId, runId }: StreamEvent): string[] => [
  all,
  ...(tenant === undefined ? [] : [ofTenant(tenant)]),
  ...(jobId === undefined ? [] : [ofJob(jobId)]),
  ...(runId === undefined ? [] : [ofRun(runId)]),
];

/** Whether a subscriber may receive an event. Events without a tenant are for those with access to all. */
const maySee = ({ scope, classes }: Subscriber, event: StreamEvent): boolean =>
  classes.has(event.class) && (scope === everyTenant || (event.tenant !== undefined && event.tenant === scope));
