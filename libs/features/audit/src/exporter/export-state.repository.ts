import { keys, runScript, type StoredAuditEvent } from '@svc/store';
import type { Redis } from 'ioredis';

/** How far the exporter is. */
export interface ExportProgress {
  pending: number;
  lastError: string;
  /** RFC 3339; '' before the first delivery. */
  lastSuccessAt: string;
  deadLetters: number;
}

export interface TenantEvent {
  tenant: string;
  event: StoredAuditEvent;
}

/** An event that the receiver refused. */
export interface DeadEvent extends TenantEvent {
  /** Of the dead letter: `<ms>-<number>`, with the time when it was put aside. */
  id: string;
  reason: string;
}

/** Events of this kind of exporter that the receiver refused; the oldest are removed beyond it. */
export const MAX_DEAD_LETTERS = 10_000;

/** Cursors and dead letters of an exporter. */
export class ExportStateRepository {
  constructor(
    private readonly redis: Redis,
    /** Kind of the exporter. */
    private readonly exporter: string,
  ) {}

  /** Newest delivered event by tenant. */
  cursors(): Promise<Record<string, string>> {
    return this.redis.hgetall(keys.auditExportCursors(this.exporter));
  }

  /** Sequence numbers of the newest events of these tenants; 0 = none. */
  async heads(tenants: readonly string[]): Promise<number[]> {
    if (tenants.length === 0) return [];
    const heads = await this.redis.mget(tenants.map((tenant) => keys.auditHead(tenant)));
    return heads.map((head) => Number(head?.split(':')[0] ?? 0));
  }

  /** @param now RFC 3339 */
  async delivered(cursors: Readonly<Record<string, string>>, now: string): Promise<void> {
    const state = keys.auditExportState(this.exporter);
    await this.write((calls) =>
      calls
        .hset(keys.auditExportCursors(this.exporter), cursors)
        .hset(state, 'last_success_at', now)
        .hdel(state, 'last_error'),
    );
  }

  /**
   * Keeps an event that the receiver refuses, and continues after it, in one step.
   *
   * @returns number of older dead letters that were removed
   */
  async bury({ tenant, event }: TenantEvent, reason: string): Promise<number> {
    const dead = keys.auditExportDead(this.exporter);
    const before = await this.redis.xlen(dead);
    const fields = [
      'tenant',
      tenant,
      'id',
      event.id,
      'reason',
      reason,
      'e',
      event.text,
      'h',
      event.hash,
      'm',
      event.hmac,
    ];
    await this.write((calls) =>
      calls
        .xadd(dead, 'MAXLEN', MAX_DEAD_LETTERS, '*', ...fields)
        .hset(keys.auditExportCursors(this.exporter), tenant, event.id),
    );
    return Math.max(0, before + 1 - MAX_DEAD_LETTERS);
  }

  /** Dead letters, newest first. @param before only those that are older than this id; undefined = all */
  async deadLetters(before: string | undefined, count: number): Promise<DeadEvent[]> {
    const newest = before === undefined ? '+' : `(${before}`;
    const rows = await this.redis.xrevrange(keys.auditExportDead(this.exporter), newest, '-', 'COUNT', count);
    return rows.map(toDeadEvent);
  }

  async deadLetter(id: string): Promise<DeadEvent | undefined> {
    const [row] = await this.redis.xrange(keys.auditExportDead(this.exporter), id, id);
    return row && toDeadEvent(row);
  }

  /** False when it was not there. */
  async removeDead(id: string): Promise<boolean> {
    const reply = await runScript(this.redis, 'removeExportLetter', keys.auditExportDead(this.exporter), id);
    return (reply as [string])[0] === 'removed';
  }

  async note(fields: { pending?: number; last_error?: string }): Promise<void> {
    await this.redis.hset(keys.auditExportState(this.exporter), fields);
  }

  async progress(): Promise<ExportProgress> {
    const [[pending, error, success], deadLetters] = await Promise.all([
      this.redis.hmget(keys.auditExportState(this.exporter), 'pending', 'last_error', 'last_success_at'),
      this.redis.xlen(keys.auditExportDead(this.exporter)),
    ]);
    return { pending: Number(pending ?? 0), lastError: error ?? '', lastSuccessAt: success ?? '', deadLetters };
  }

  /** @throws the first error of the calls */
  private async write(add: (calls: ReturnType<Redis['multi']>) => unknown): Promise<void> {
    const calls = this.redis.multi();
    add(calls);
    for (const [error] of (await calls.exec()) ?? []) if (error) throw error;
  }
}

function toDeadEvent([id, fields]: [string, string[]]): DeadEvent {
  const read = (name: string) => fields[fields.indexOf(name) + 1] ?? '';
  const event = { id: read('id'), text: read('e'), hash: read('h'), hmac: read('m') };
  return { id, tenant: read('tenant'), reason: read('reason'), event };
}
