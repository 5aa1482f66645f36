import type { TenantScope } from '@svc/contract';
import type { Redis } from 'ioredis';
import type { Page } from './job.index';
import type { JobRecord, OutputSafetyRecord } from './job.record';
import { keys } from './keys';
import { auditKept } from './policy.repository';
import { runScript } from './scripts';

/** Core contract 3. */
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

/** How the matter of a quarantined output ends. */
export interface QuarantineSettled {
  verdict: OutputSafetyRecord;
  /** Where the result is from now on; absent = where the record says. */
  resultPtr?: string;
  /** Of ours, and still there: otherwise nothing is written. */
  mustExist?: string;
  /** Entry (JSON) of the tenant's policy audit. */
  audit: string;
}

/** Dead letters. They are written by the move that ends a job (see `DeadLetterWrite`); here they are read and removed. */
export class DeadLetterRepository {
  constructor(private readonly redis: Redis) {}

  async get(scope: TenantScope, id: string): Promise<DeadLetter | 'other_tenant' | undefined> {
    const text = await this.redis.get(keys.deadLetter(id));
    if (!text) return undefined;
    const letter = JSON.parse(text) as DeadLetter;
    return scope === '*' || letter.tenant === scope ? letter : 'other_tenant';
  }

  /** Newest first. The cursor is in µs here; routes speak unix seconds. */
  async page(tenant: string, limit: number, cursorUs?: number): Promise<Page<DeadLetter>> {
    const upper = cursorUs === undefined ? '+inf' : String(cursorUs);
    const flat = await this.redis.zrevrangebyscore(
      keys.deadLetters(tenant),
      upper,
      0,
      'WITHSCORES',
      'LIMIT',
      0,
      limit + 1,
    );
    const rows = flat.flatMap((id, i) => (i % 2 === 0 ? [{ id, atUs: Number(flat[i + 1]) }] : []));
    const shown = rows.slice(0, limit);
    const texts = shown.length > 0 ? await this.redis.mget(shown.map(({ id }) => keys.deadLetter(id))) : [];
    const items = texts.flatMap((text) => (text ? [JSON.parse(text) as DeadLetter] : []));
    const last = shown.at(-1);
    return { items, nextCursorUs: rows.length > limit && last ? last.atUs - 1 : null };
  }

  /** Every letter written within a time, both ends included, newest first. */
  async between(tenant: string, fromUs: number, toUs: number): Promise<DeadLetter[]> {
    const ids = await this.redis.zrevrangebyscore(keys.deadLetters(tenant), toUs, fromUs);
    const texts = ids.length > 0 ? await this.redis.mget(ids.map((id) => keys.deadLetter(id))) : [];
    return texts.flatMap((text) => (text ? [JSON.parse(text) as DeadLetter] : []));
  }

  /** Whether there is a letter that was written at this time or before. */
  async anyUntil(tenant: string, untilUs: number): Promise<boolean> {
    return (await this.redis.zcount(keys.deadLetters(tenant), 0, untilUs)) > 0;
  }

  /** Safe to repeat. */
  async remove(tenant: string, id: string): Promise<void> {
    await runScript(this.redis, 'removeDeadLetter', keys.deadLetter(id), id, tenant);
  }

  /**
   * Removes the dead letter of a quarantined output, together with what is kept of it with the job and told to the audit.
   *
   * @param job as it was read; when its verdict or state has changed since, nothing is written
   */
  async settleQuarantine(
    { id, tenant, output_safety: read }: Pick<JobRecord, 'id' | 'tenant' | 'output_safety'>,
    { verdict, resultPtr = '', mustExist = '', audit }: QuarantineSettled,
  ): Promise<'settled' | 'absent' | 'changed' | 'expired'> {
    const bodyKey = mustExist.replace(/^redis:\/\//, '');
    const verdicts = [JSON.stringify(read), JSON.stringify(verdict)];
    const reply = await runScript(
      this.redis,
      'settleQuarantine',
      keys.job(id),
      keys.deadLetter(id),
      ...[id, tenant, ...verdicts, resultPtr, bodyKey, audit, auditKept],
    );
    return (reply as ['settled' | 'absent' | 'changed' | 'expired'])[0];
  }

  /** Removes what is too old and what is over the number kept; returns how many went. */
  async trim(tenant: string, olderThanUs: number, keep: number): Promise<number> {
    const index = keys.deadLetters(tenant);
    const old = await this.redis.zrangebyscore(index, 0, olderThanUs);
    const surplus = Math.max(0, (await this.redis.zcard(index)) - keep);
    const over = surplus > 0 ? await this.redis.zrange(index, 0, String(surplus - 1)) : [];
    const gone = new Set([...old, ...over]);
    for (const id of gone) await this.remove(tenant, id);
    return gone.size;
  }
}
