import type { Clock } from '@svc/platform';
import type { AuditRepository } from '@svc/store';
import type { ExportStateRepository, TenantEvent } from './export-state.repository';
import type { Receiver } from './receiver';

export interface ExporterDeps {
  store: Pick<AuditRepository, 'range' | 'tenants'>;
  state: ExportStateRepository;
  receiver: Receiver;
  clock: Pick<Clock, 'nowMs'>;
  maxRetries: number;
  /** While false, nothing is exported, and the cursors remain. */
  isEntitled(): boolean;
  onDelivered(events: number): void;
  onDead(event: TenantEvent, reason: string): void;
  /** Events that were removed before they were delivered, or dead letters over their bound. */
  onLost(tenant: string, events: number): void;
  onPending(events: number): void;
  onUnavailable(reason: string): void;
}

/** A chain with undelivered events. */
interface Behind {
  tenant: string;
  /** Id of the newest delivered event; undefined = none. */
  cursor: string | undefined;
  left: number;
}

/** Time of one run, so that the lease is renewed between deliveries. */
const RUN_MS = 10_000;
/** After the retries, while the receiver is unavailable. */
const PAUSE_MS = 30_000;

/**
 * Delivers the events of all chains to one receiver, those of a chain in their order. It reads the chains themselves, and keeps
 * how far it is: so a slow receiver costs nothing elsewhere, and nothing is lost while it is unavailable, until retention removes
 * events. An event may be delivered twice when a process dies between the delivery and the write of the cursor. ADR 27.
 */
export class Exporter {
  /** What was read and is not delivered yet, in order: the parts of a batch that the receiver refused, or one batch. */
  private parts: (readonly TenantEvent[])[] = [];
  private failures = 0;
  private nextAttemptMs = 0;
  /** Tenant at which the next batch begins. */
  private turn = 0;

  constructor(private readonly deps: ExporterDeps) {}

  /** Delivers until nothing is left, the receiver fails, or the time of a run is over. */
  async run(): Promise<void> {
    const { clock, isEntitled } = this.deps;
    const startedMs = clock.nowMs();
    do {
      const behind = await this.findBehind();
      if (!isEntitled() || clock.nowMs() < this.nextAttemptMs) return;
      if (this.parts.length === 0) this.parts = [await this.collect(behind)];
      const [part = []] = this.parts;
      if (part.length === 0) this.parts = [];
      if (part.length === 0 || !(await this.deliver(part))) return;
    } while (clock.nowMs() - startedMs < RUN_MS);
  }

  /** Another replica exports: what was read here may be delivered by it. */
  forget(): void {
    this.parts = [];
    this.failures = 0;
    this.nextAttemptMs = 0;
  }

  private async findBehind(): Promise<Behind[]> {
    const { store, state, onPending } = this.deps;
    const [tenants, cursors] = await Promise.all([store.tenants(), state.cursors()]);
    tenants.sort();
    const heads = await state.heads(tenants);
    const behind = tenants
      .map((tenant, i) => ({ tenant, cursor: cursors[tenant], left: (heads[i] ?? 0) - readSeq(cursors[tenant]) }))
      .filter(({ left }) => left > 0);
    const pending = behind.reduce((sum, { left }) => sum + left, 0);
    onPending(pending);
    await state.note({ pending });
    return behind;
  }

  /** The oldest undelivered events, a share of each tenant, so that none delays the others. */
  private async collect(behind: readonly Behind[]): Promise<TenantEvent[]> {
    if (behind.length === 0) return [];
    const { maxEvents } = this.deps.receiver;
    const share = Math.max(1, Math.floor(maxEvents / behind.length));
    const first = this.turn % behind.length;
    const inTurn = [...behind.slice(first), ...behind.slice(0, first)].slice(0, maxEvents);
    this.turn = first + inTurn.length;
    const parts = await Promise.all(inTurn.map((one) => this.read(one, share)));
    return parts.flat();
  }

  private async read({ tenant, cursor }: Behind, count: number): Promise<TenantEvent[]> {
    const events = await this.deps.store.range(tenant, cursor === undefined ? '-' : `(${cursor}`, '+', count);
    const [first] = events;
    // Of a chain that was never exported, what retention removed before is no loss.
    const missing = first && cursor !== undefined ? readSeq(first.id) - readSeq(cursor) - 1 : 0;
    if (missing > 0) this.deps.onLost(tenant, missing);
    return events.map((event) => ({ tenant, event }));
  }

  /** @returns whether to continue at once */
  private async deliver(part: readonly TenantEvent[]): Promise<boolean> {
    const { receiver, state, clock, onDelivered } = this.deps;
    const delivery = await receiver.deliver(part.map(({ event }) => event));
    if (delivery.kind === 'delivered') {
      // A crash here repeats the delivery.
      const cursors = Object.fromEntries(part.map(({ tenant, event }) => [tenant, event.id]));
      await state.delivered(cursors, new Date(clock.nowMs()).toISOString());
      onDelivered(part.length);
      this.finishPart();
      return true;
    }
    if (delivery.kind === 'refused' && part.length > 1) {
      // So that only the refused event itself is put aside.
      const half = Math.floor(part.length / 2);
      this.parts.splice(0, 1, part.slice(0, half), part.slice(half));
      return true;
    }
    return this.fail(part, delivery);
  }

  private async fail(
    part: readonly TenantEvent[],
    { kind, reason }: { kind: 'refused' | 'unavailable'; reason: string },
  ): Promise<boolean> {
    const { state, clock, maxRetries, onUnavailable, onDead, onLost } = this.deps;
    const [only] = part;
    if (kind === 'refused' && only && this.failures >= maxRetries) {
      const removed = await state.bury(only, reason);
      onDead(only, reason);
      if (removed > 0) onLost(only.tenant, removed);
      this.finishPart();
      return true;
    }
    const waitMs = this.failures < maxRetries ? 1_000 * 2 ** this.failures : PAUSE_MS;
    this.failures += 1;
    this.nextAttemptMs = clock.nowMs() + waitMs;
    await state.note({ last_error: reason });
    onUnavailable(reason);
    return false;
  }

  private finishPart(): void {
    this.parts.shift();
    this.failures = 0;
    this.nextAttemptMs = 0;
  }
}

const readSeq = (id: string | undefined): number => (id === undefined ? 0 : Number(id.slice(id.indexOf('-') + 1)));
