import { leafHash, readOutbox, sealFacts, type SealedEvent } from '@svc/audit-chain';
import type { AuditFact } from '@svc/contract';
import {
  TILE_SIZE,
  type AuditRepository,
  type ChainEnd,
  type ChainGrowth,
  type OutboxEntry,
  type TileGrowth,
} from '@svc/store';
import type { KeyObject } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { rootOfLeaves } from './tree';

type SealerStore = Pick<AuditRepository, 'append' | 'dropOutbox' | 'end' | 'leaves' | 'outbox'>;

export interface SealerOptions {
  hmacKey?: KeyObject | undefined;
  /** Receives what was appended, in the order of the chain. A failure does not stop the sealer. */
  onSealed?(tenant: string, events: readonly SealedEvent[]): void;
  /** An entry that could not be read. It is in the chain as text. */
  onUnreadable?(error: unknown): void;
}

/** Entries per read; each has the changes of one call, at most some 48. Bounds the time for which an append blocks Redis. */
const ENTRIES = 64;
/** Where chains end; beyond this number, the least recently used are read again. */
const MAX_TENANTS = 10_000;

interface Recorded {
  entry: string;
  fact: AuditFact;
}

interface TenantEnd extends ChainEnd {
  /** Leaves of the incomplete tile. */
  partial: Buffer;
}

/** Events that follow `end`, and where the chain ends when they are in it. */
interface Sealed extends ChainGrowth {
  end: TenantEnd;
  after: TenantEnd;
}

/**
 * Moves what scripts recorded from the outbox into the chains. Any number of processes may do so at the same time: an append
 * compares the head, and an entry is applied once, so that a process may stop anywhere. ADR 27.
 */
export class Sealer {
  private readonly ends = new Map<string, TenantEnd>();
  private running: Promise<number> | undefined;
  private requested: Promise<number> | undefined;

  constructor(
    private readonly store: SealerStore,
    private readonly options: SealerOptions = {},
  ) {}

  /** Seals all that was recorded before this call. @returns number of events */
  seal(): Promise<number> {
    if (!this.running) return (this.running = this.sealAll().finally(() => (this.running = undefined)));
    // The run under way may have read the outbox before the caller's change was in it.
    return (this.requested ??= this.running
      .catch(() => 0)
      .then(() => {
        this.requested = undefined;
        return this.seal();
      }));
  }

  private async sealAll(): Promise<number> {
    let entries = await this.store.outbox(ENTRIES);
    let count = 0;
    let ahead = new Map<string, Sealed>();
    let appending: Promise<unknown> = Promise.resolve();
    let applied: string | undefined;
    try {
      for (let last = entries.at(-1); last; last = entries.at(-1)) {
        const upTo = last.id;
        // Read while these are appended.
        const next = entries.length < ENTRIES ? Promise.resolve([]) : this.store.outbox(ENTRIES, upTo);
        next.catch(() => undefined); // awaited below, after what may fail first
        const recorded = this.group(entries);
        // Sealed while the entries before are appended, as if that had succeeded: `append` seals again if it has not.
        ahead = this.sealAhead(recorded, upTo, ahead);
        await appending;
        const drop = applied === undefined ? undefined : this.store.dropOutbox(applied);
        const appends = [...recorded].map(async ([tenant, facts]) => {
          const appended = await this.append(tenant, facts, upTo, ahead);
          count += appended;
        });
        appending = Promise.all([drop, ...appends]);
        appending.catch(() => undefined); // awaited above or below
        applied = upTo;
        // Calls of scripts are sent at the end of this turn of the event loop: before more is sealed.
        await setImmediate();
        entries = await next;
      }
      await appending;
      if (applied !== undefined) await this.store.dropOutbox(applied);
      return count;
    } finally {
      await appending.catch(() => undefined);
    }
  }

  private group(entries: readonly OutboxEntry[]): Map<string, Recorded[]> {
    const byTenant = new Map<string, Recorded[]>();
    for (const { id, lines } of entries) {
      for (const fact of this.read(lines)) {
        const facts = byTenant.get(fact.tenant_id);
        if (facts) facts.push({ entry: id, fact });
        else byTenant.set(fact.tenant_id, [{ entry: id, fact }]);
      }
    }
    return byTenant;
  }

  /** @param before what is being appended */
  private sealAhead(
    recorded: ReadonlyMap<string, readonly Recorded[]>,
    upTo: string,
    before: ReadonlyMap<string, Sealed>,
  ): Map<string, Sealed> {
    const ahead = new Map<string, Sealed>();
    for (const [tenant, facts] of recorded) {
      const end = before.get(tenant)?.after ?? this.ends.get(tenant);
      if (end) ahead.set(tenant, this.sealAfter(end, facts, upTo));
    }
    return ahead;
  }

  private read(lines: string): AuditFact[] {
    try {
      return readOutbox(lines);
    } catch (error) {
      this.options.onUnreadable?.(error);
      return lines.split('\n').map((line) => readOrKeep(line));
    }
  }

  /**
   * @param ahead what was sealed before the end of the chain was known; replaced if another process moved the end
   * @returns number of events
   */
  private async append(
    tenant: string,
    recorded: readonly Recorded[],
    upTo: string,
    ahead: Map<string, Sealed>,
  ): Promise<number> {
    for (;;) {
      const end = this.ends.get(tenant) ?? (await this.load(tenant));
      let sealed = ahead.get(tenant);
      if (sealed?.end !== end) ahead.set(tenant, (sealed = this.sealAfter(end, recorded, upTo)));
      if (sealed.events.length === 0) return 0;
      if ((await this.store.append(tenant, end, sealed)) === 'appended') {
        this.keep(tenant, sealed.after);
        this.options.onSealed?.(tenant, sealed.events);
        return sealed.events.length;
      }
      this.ends.delete(tenant);
    }
  }

  private sealAfter(end: TenantEnd, recorded: readonly Recorded[], entry: string): Sealed {
    // They are in the order of their entries.
    const first = recorded.findIndex((fact) => isAfter(fact.entry, end.applied));
    const facts = first < 0 ? [] : recorded.slice(first).map(({ fact }) => fact);
    let { lastMs } = end;
    const times = facts.map(({ timestamp }) => (lastMs = Math.max(lastMs, readMs(timestamp))));
    const events = sealFacts(facts, end.head, this.options.hmacKey);
    const { tiles, partial } = grow(end, events);
    const last = events.at(-1);
    if (!last) return { end, after: end, events, times, tiles, entry };
    const head = { seq: last.seq, hash: last.hash };
    return { end, after: { head, lastMs, applied: entry, partial }, events, times, tiles, entry };
  }

  private async load(tenant: string): Promise<TenantEnd> {
    const end = await this.store.end(tenant);
    const size = (end.head.seq % TILE_SIZE) * 32;
    const leaves = size === 0 ? Buffer.alloc(0) : await this.store.leaves(tenant, Math.floor(end.head.seq / TILE_SIZE));
    const loaded = { ...end, partial: leaves.subarray(0, size) };
    this.keep(tenant, loaded);
    return loaded;
  }

  private keep(tenant: string, end: TenantEnd): void {
    this.ends.delete(tenant);
    this.ends.set(tenant, end);
    if (this.ends.size <= MAX_TENANTS) return;
    const [oldest] = this.ends.keys();
    if (oldest !== undefined) this.ends.delete(oldest);
  }
}

/** The tiles that new events extend. */
function grow(end: TenantEnd, events: readonly SealedEvent[]): { tiles: TileGrowth[]; partial: Buffer } {
  const tiles: TileGrowth[] = [];
  let partial = end.partial;
  let tile = Math.floor(end.head.seq / TILE_SIZE);
  let added: Buffer[] = [];
  const flush = () => {
    const leaves = Buffer.concat(added);
    added = [];
    partial = Buffer.concat([partial, leaves]);
    const isComplete = partial.length === TILE_SIZE * 32;
    tiles.push({ tile, leaves, ...(isComplete && { root: rootOfLeaves(partial) }) });
    if (!isComplete) return;
    partial = Buffer.alloc(0);
    tile += 1;
  };
  for (const { seq, hash } of events) {
    added.push(leafHash(hash));
    if (seq % TILE_SIZE === 0) flush();
  }
  if (added.length > 0) flush();
  return { tiles, partial };
}

function readOrKeep(line: string): AuditFact {
  try {
    const [fact] = readOutbox(line);
    if (fact) return fact;
  } catch {
    // Kept below: what was recorded is never dropped.
  }
  const [, tenant = '', stamp = ''] = line.split('\t');
  const atMs = Number(stamp) / 1_000;
  return {
    tenant_id: tenant || 'default',
    timestamp: new Date(Number.isFinite(atMs) ? atMs : 0).toISOString(),
    event_type: 'audit.unreadable',
    action: 'audit.unreadable',
    severity: 'CRITICAL',
    extra: { line: line.slice(0, 2_000) },
  };
}

/** Compares ids of stream entries. */
function isAfter(id: string, other: string): boolean {
  if (other === '') return true;
  const [ms = 0, seq = 0] = id.split('-').map(Number);
  const [otherMs = 0, otherSeq = 0] = other.split('-').map(Number);
  return ms > otherMs || (ms === otherMs && seq > otherSeq);
}

let [cachedSecond, cachedMs] = ['', 0];

/** Most timestamps are of the same second as the one before. @param timestamp RFC 3339 in UTC */
function readMs(timestamp: string): number {
  const second = timestamp.slice(0, 19);
  if (second !== cachedSecond) [cachedSecond, cachedMs] = [second, Date.parse(`${second}Z`)];
  return cachedMs + Number(timestamp.slice(20, 23));
}
