import {
  emptyHead,
  headText,
  parseHead,
  type ChainHead,
  type SealedEvent,
  type SignedCheckpoint,
} from '@svc/audit-chain';
import type { AuditAct } from '@svc/contract';
import type { Redis } from 'ioredis';
import { keys, type Keys } from './keys';
import { runScript } from './scripts';

/** Changes that one call of a script recorded. */
export interface OutboxEntry {
  id: string;
  /** As in libs/core/audit-chain/src/outbox.ts. */
  lines: string;
}

/** Where the chain of a tenant ends. */
export interface ChainEnd {
  head: ChainHead;
  /** Time of the newest event, ms. */
  lastMs: number;
  /** Newest outbox entry of this shard that is in the chain, '' = none. */
  applied: string;
}

/** Part of the Merkle tree: leaves to append to a tile, and its root if that completes it. */
export interface TileGrowth {
  tile: number;
  leaves: Buffer;
  root?: Buffer;
}

/** What is appended to a chain at once. */
export interface ChainGrowth {
  events: readonly SealedEvent[];
  /** Time of each event, ms; never less than that of the event before. */
  times: readonly number[];
  tiles: readonly TileGrowth[];
  /** The newest outbox entry with lines of this tenant; undefined when the events are not from the outbox. */
  entry?: string;
}

/** An event as read from the chain. */
export interface StoredAuditEvent extends Omit<SealedEvent, 'seq'> {
  /** `<ms>-<seq>` */
  id: string;
}

/** Where retention cut a chain. */
export interface RetentionBoundary {
  /** The newest event that was removed; 0 = none. */
  seq: number;
  hash: string;
}

/** What a time-stamp authority has signed about a checkpoint. */
export interface KeptTimestamp {
  /** Of the checkpoint. */
  seq: number;
  /** RFC 3339. */
  at: string;
  /** Base64. */
  token: string;
}

/** Leaves of a complete tile. A power of two, so that a tile is a subtree. */
export const TILE_SIZE = 1_024;
export const HASH_BYTES = 32;

const MAX_CHECKPOINTS = 10_000;

/** The audit chains: the outbox to which scripts add what they changed, and the events sealed from it. ADR 27. */
export class AuditRepository {
  private readonly appliedField: string;

  constructor(
    private readonly redis: Redis,
    private readonly own: Keys,
    shard: string,
  ) {
    this.appliedField = `applied:${shard}`;
  }

  /** Records an act that no script of this store made, at the time of Redis. It is in the outbox when this resolves. */
  async record(tenant: string, act: AuditAct): Promise<void> {
    await runScript(this.redis, 'recordAct', tenant, JSON.stringify(act));
  }

  /** The oldest entries of the outbox. @param after only entries after this id, '' = all */
  async outbox(count: number, after = ''): Promise<OutboxEntry[]> {
    // A pipeline of its own, so that a slow read delays no automatic one.
    const [[error, entries] = [null, []]] =
      (await this.redis
        .pipeline()
        .xrange(this.own.auditOutbox(), after === '' ? '-' : `(${after}`, '+', 'COUNT', count)
        .exec()) ?? [];
    if (error) throw error;
    return (entries as [string, string[]][]).map(([id, fields]) => ({ id, lines: fields[1] ?? '' }));
  }

  /** Number of entries in the outbox. */
  outboxLength(): Promise<number> {
    return this.redis.xlen(this.own.auditOutbox());
  }

  /** Removes the entries up to an id, which all chains contain. */
  async dropOutbox(upTo: string): Promise<void> {
    const [ms, seq] = upTo.split('-').map(Number) as [number, number];
    await this.redis.xtrim(this.own.auditOutbox(), 'MINID', `${ms}-${seq + 1}`);
  }

  /** @throws Error when the stored head cannot be read: another program wrote it */
  async end(tenant: string): Promise<ChainEnd> {
    const [text, [applied, lastMs]] = await Promise.all([
      this.redis.get(keys.auditHead(tenant)),
      this.redis.hmget(keys.auditState(tenant), this.appliedField, 'last_ms'),
    ]);
    const head = parseHead(text ?? '');
    if (!head) throw new Error(`the head of the audit chain of ${tenant} cannot be read: verify the chain`);
    return { head, lastMs: Number(lastMs ?? 0), applied: applied ?? '' };
  }

  /**
   * Appends events that were sealed after `end`, at least one.
   *
   * @returns `repeated`: the entry is in the chain; `changed`: another process appended in between
   */
  async append(
    tenant: string,
    end: ChainEnd,
    { events, times, tiles, entry }: ChainGrowth,
  ): Promise<'appended' | 'repeated' | 'changed'> {
    // Few large arguments: thousands of small ones cost more than the events.
    let [places, texts, hashes, hmacs] = ['', '', '', ''];
    events.forEach(({ seq, text, hash, hmac }, i) => {
      places += `${times[i]}-${seq} ${Buffer.byteLength(text)}\n`;
      texts += text;
      hashes += hash;
      hmacs += hmac;
    });
    const reply = await runScript(
      this.redis,
      'appendAudit',
      keys.auditChain(tenant),
      tenant,
      entry === undefined ? '' : this.appliedField,
      entry ?? '',
      headText(end.head),
      headText(events.at(-1) ?? end.head),
      times.at(-1) ?? end.lastMs,
      places,
      texts,
      hashes,
      hmacs,
      ...tiles.flatMap(({ tile, leaves, root }) => [tile, leaves, root ?? '']),
    );
    return (reply as ['appended' | 'repeated' | 'changed'])[0];
  }

  /** Id of this installation, '' before its first service has started. */
  async installation(): Promise<string> {
    return (await this.redis.hget(keys.installation(), 'id')) ?? '';
  }

  /** Tenants with a chain. */
  tenants(): Promise<string[]> {
    return this.redis.smembers(keys.auditTenants());
  }

  /** The newest event of a chain, as the head says. */
  async head(tenant: string): Promise<ChainHead | undefined> {
    return parseHead((await this.redis.get(keys.auditHead(tenant))) ?? '');
  }

  /** Events between two ids, oldest first. @param from `-`, an id, or `(` and an id to begin after it */
  async range(tenant: string, from: string, to: string, count: number): Promise<StoredAuditEvent[]> {
    return toEvents(await this.redis.xrangeBuffer(keys.auditChain(tenant), from, to, 'COUNT', count));
  }

  /** The same, newest first. */
  async rangeBack(tenant: string, from: string, to: string, count: number): Promise<StoredAuditEvent[]> {
    return toEvents(await this.redis.xrevrangeBuffer(keys.auditChain(tenant), from, to, 'COUNT', count));
  }

  length(tenant: string): Promise<number> {
    return this.redis.xlen(keys.auditChain(tenant));
  }

  async boundary(tenant: string): Promise<RetentionBoundary> {
    const [seq, hash] = await this.redis.hmget(keys.auditState(tenant), 'boundary_seq', 'boundary_hash');
    return { seq: Number(seq ?? 0), hash: hash ?? '' };
  }

  /**
   * Removes the events up to an id from the front of a chain, and records it there.
   *
   * @param cut `read`: the boundary that the caller read; `seq`, `hash` and `id` of the newest event to remove
   * @returns `held`: under a legal hold; `changed`: another process cut the chain in between
   */
  async trim(
    tenant: string,
    { read, seq, hash, id }: { read: number; seq: number; hash: string; id: string },
    act: AuditAct | undefined,
  ): Promise<{ kind: 'trimmed'; events: number } | { kind: 'held' | 'changed' }> {
    const firstKept = `${id.slice(0, id.indexOf('-'))}-${seq + 1}`;
    const args = [tenant, read, seq, hash, firstKept, act ? JSON.stringify(act) : ''];
    const reply = await runScript(this.redis, 'trimAudit', keys.auditChain(tenant), ...args);
    const [kind, events] = reply as ['trimmed' | 'held' | 'changed', number?];
    return kind === 'trimmed' ? { kind, events: Number(events) } : { kind };
  }

  /** Newest published checkpoint of each tenant, for a kind of receiver. */
  anchored(kind: string): Promise<Record<string, string>> {
    return this.redis.hgetall(keys.auditAnchored(kind));
  }

  async noteAnchored(kind: string, tenant: string, seq: number): Promise<void> {
    await this.redis.hset(keys.auditAnchored(kind), tenant, seq);
  }

  /** Keeps the token (base64) of a time-stamp authority for the checkpoint of this number. */
  async keepTimestamp(tenant: string, seq: number, timestamp: Omit<KeptTimestamp, 'seq'>): Promise<void> {
    const key = keys.auditTimestamps(tenant);
    await this.redis
      .multi()
      .zadd(key, seq, JSON.stringify({ seq, ...timestamp }))
      .zremrangebyrank(key, 0, -MAX_CHECKPOINTS - 1)
      .exec();
  }

  /** Kept tokens, newest first. @param before only of checkpoints with a lower number; undefined = all */
  async timestampsBack(tenant: string, before: number | undefined, count: number): Promise<KeptTimestamp[]> {
    const newest = before === undefined ? '+inf' : `(${before}`;
    const key = keys.auditTimestamps(tenant);
    const texts = await this.redis.zrevrangebyscore(key, newest, '-inf', 'LIMIT', 0, count);
    return texts.map((text) => JSON.parse(text) as KeptTimestamp);
  }

  /** Leaves of a tile, 32 bytes each. */
  async leaves(tenant: string, tile: number): Promise<Buffer> {
    return (await this.redis.getBuffer(keys.auditLeaves(tenant, String(tile)))) ?? Buffer.alloc(0);
  }

  /** Roots of the complete tiles, 32 bytes each. */
  async tileRoots(tenant: string): Promise<Buffer> {
    return (await this.redis.getBuffer(keys.auditTiles(tenant))) ?? Buffer.alloc(0);
  }

  async keepCheckpoint(tenant: string, checkpoint: SignedCheckpoint): Promise<void> {
    const key = keys.auditCheckpoints(tenant);
    await this.redis
      .multi()
      .zadd(key, checkpoint.seq, JSON.stringify(checkpoint))
      .zremrangebyrank(key, 0, -MAX_CHECKPOINTS - 1)
      .exec();
  }

  /** Checkpoints from a sequence number on, oldest first. */
  async checkpoints(tenant: string, from: number, count: number): Promise<SignedCheckpoint[]> {
    const texts = await this.redis.zrangebyscore(keys.auditCheckpoints(tenant), from, '+inf', 'LIMIT', 0, count);
    return texts.map((text) => JSON.parse(text) as SignedCheckpoint);
  }

  /** The newest checkpoints, newest first. */
  async checkpointsBack(tenant: string, count: number): Promise<SignedCheckpoint[]> {
    const texts = await this.redis.zrevrange(keys.auditCheckpoints(tenant), 0, count - 1);
    return texts.map((text) => JSON.parse(text) as SignedCheckpoint);
  }

  /** The event with a sequence number; undefined when it was removed or is not there yet. */
  async eventAt(tenant: string, seq: number): Promise<StoredAuditEvent | undefined> {
    const key = keys.auditChain(tenant);
    const [[first] = [], [last] = []] = await Promise.all([
      this.redis.xrange(key, '-', '+', 'COUNT', 1),
      this.redis.xrevrange(key, '+', '-', 'COUNT', 1),
    ]);
    if (!first || !last) return undefined;
    // Ids grow in time and in number, so the time of a number is found by halving: some 40 reads of one entry.
    let [low, high] = [readMs(first[0]), readMs(last[0])];
    if (seq < readSeq(first[0]) || seq > readSeq(last[0])) return undefined;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const [entry] = await this.redis.xrange(key, String(middle + 1), '+', 'COUNT', 1);
      if (entry && readSeq(entry[0]) <= seq) low = Math.min(high, readMs(entry[0]));
      else high = middle;
    }
    const [found] = toEvents(await this.redis.xrangeBuffer(key, `${low}-${seq}`, `${low}-${seq}`));
    return found;
  }

  async newestCheckpoint(tenant: string): Promise<SignedCheckpoint | undefined> {
    const [text] = await this.redis.zrevrange(keys.auditCheckpoints(tenant), 0, 0);
    return text === undefined ? undefined : (JSON.parse(text) as SignedCheckpoint);
  }
}

const readMs = (id: string): number => Number(id.slice(0, id.indexOf('-')));
const readSeq = (id: string): number => Number(id.slice(id.indexOf('-') + 1));

/** No event and no outbox entry. */
export const emptyEnd: ChainEnd = { head: emptyHead, lastMs: 0, applied: '' };

const [textField, hashField, hmacField] = [...Buffer.from('ehm')];

/** Entries are read as bytes: the client would also make text of each field name, which costs more than the check here. */
const toEvents = (entries: readonly [Buffer, Buffer[]][]): StoredAuditEvent[] =>
  entries.map(([id, fields]) => {
    const event = { id: id.toString('latin1'), text: '', hash: '', hmac: '' };
    for (let i = 0; i + 1 < fields.length; i += 2) {
      const [name, value] = [fields[i] as Buffer, fields[i + 1] as Buffer];
      if (name.length !== 1) continue;
      if (name[0] === textField) event.text = value.toString();
      else if (name[0] === hashField) event.hash = value.toString('latin1');
      else if (name[0] === hmacField) event.hmac = value.toString('latin1');
    }
    return event;
  });
