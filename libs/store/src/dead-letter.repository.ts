import type { TenantScope } from '@svc/contract';
import type { Redis } from 'ioredis';
import type { JobRecord, OutputSafetyRecord } from './job.record';
import type { Keys } from './keys';
import { auditKept } from './policy.repository';
import { runScript } from './scripts';

/** See docs/reference/jobs.md#dead-letters. */
export interface DeadLetter {
  job_id: string;
  topic?: string;
  tenant: string;
  status?: string;
  reason?: string;
  reason_code?: string;
  last_state?: string;
  attempts?: number;
  created_at: string;
}

/** Position of a dead letter in the list of its tenant. */
export interface DeadLetterPosition {
  atUs: number;
  id: string;
}

export interface DeadLetterPage {
  items: DeadLetter[];
  /** Present if there is a next page: the last position of this page and the first of the next. */
  more?: { last: DeadLetterPosition; next: DeadLetterPosition };
}

/** The resolution of a quarantined output. */
export interface QuarantineResolution {
  verdict: OutputSafetyRecord;
  /** New pointer of the result; absent = unchanged. */
  resultPtr?: string;
  /** Pointer whose key must exist; otherwise nothing is written. */
  mustExist?: string;
  /** Entry (JSON) of the tenant's policy audit. */
  audit: string;
}

/** Reads and removes dead letters. The transition that ends a job writes them (see `DeadLetterWrite`). */
export class DeadLetterRepository {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  async get(scope: TenantScope, id: string): Promise<DeadLetter | 'other_tenant' | undefined> {
    const text = await this.redis.get(this.keys.deadLetter(id));
    if (!text) return undefined;
    const letter = JSON.parse(text) as DeadLetter;
    return scope === '*' || letter.tenant === scope ? letter : 'other_tenant';
  }

  /**
   * At most `limit` letters, newest first.
   *
   * @param from the newest time to include, µs; or the position before the page, which may have been removed
   */
  async page(tenant: string, limit: number, from: number | DeadLetterPosition = Infinity): Promise<DeadLetterPage> {
    const index = this.keys.deadLetters(tenant);
    const [tied, upper] =
      typeof from === 'number'
        ? [[], Number.isFinite(from) ? String(from) : '+inf']
        : [await this.tiedAfter(index, from), `(${from.atUs}`];
    const flat = await this.redis.zrevrangebyscore(index, upper, 0, 'WITHSCORES', 'LIMIT', 0, limit + 1);
    const older = flat.flatMap((id, i) => (i % 2 === 0 ? [{ id, atUs: Number(flat[i + 1]) }] : []));
    const rows = [...tied, ...older];
    const shown = rows.slice(0, limit);
    const texts = shown.length > 0 ? await this.redis.mget(shown.map(({ id }) => this.keys.deadLetter(id))) : [];
    const items = texts.flatMap((text) => (text ? [JSON.parse(text) as DeadLetter] : []));
    const [last, next] = [shown.at(-1), rows[limit]];
    return { items, ...(last && next && { more: { last, next } }) };
  }

  /** Later positions of the same microsecond, which Redis orders by the bytes of their ids, here descending. */
  private async tiedAfter(index: string, { atUs, id }: DeadLetterPosition): Promise<DeadLetterPosition[]> {
    const ids = await this.redis.zrevrangebyscore(index, atUs, atUs);
    const bytes = Buffer.from(id);
    return ids.flatMap((other) => (Buffer.compare(Buffer.from(other), bytes) < 0 ? [{ id: other, atUs }] : []));
  }

  /** Idempotent. */
  async remove(tenant: string, id: string): Promise<void> {
    await runScript(this.redis, 'removeDeadLetter', this.keys.deadLetter(id), id, tenant);
  }

  /**
   * Removes the dead letter of a quarantined output and, atomically, updates its output check in the job record and the
   * audit.
   *
   * @param job as it was read; if its output check or state has changed, nothing is written
   */
  async settleQuarantine(
    { id, tenant, output_safety: read }: Pick<JobRecord, 'id' | 'tenant' | 'output_safety'>,
    { verdict, resultPtr = '', mustExist = '', audit }: QuarantineResolution,
  ): Promise<'settled' | 'absent' | 'changed' | 'expired'> {
    const bodyKey = mustExist.replace(/^redis:\/\//, '');
    const verdicts = [JSON.stringify(read), JSON.stringify(verdict)];
    const reply = await runScript(
      this.redis,
      'settleQuarantine',
      this.keys.job(id),
      this.keys.deadLetter(id),
      ...[id, tenant, ...verdicts, resultPtr, bodyKey, audit, auditKept],
    );
    return (reply as ['settled' | 'absent' | 'changed' | 'expired'])[0];
  }

  /** Removes dead letters that are too old or over the limit; returns their number. */
  async trim(tenant: string, olderThanUs: number, keep: number): Promise<number> {
    const index = this.keys.deadLetters(tenant);
    const old = await this.redis.zrangebyscore(index, 0, olderThanUs);
    const surplus = Math.max(0, (await this.redis.zcard(index)) - keep);
    const over = surplus > 0 ? await this.redis.zrange(index, 0, String(surplus - 1)) : [];
    const gone = new Set([...old, ...over]);
    for (const id of gone) await this.remove(tenant, id);
    return gone.size;
  }
}
