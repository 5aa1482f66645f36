import type { Redis } from 'ioredis';
import { keys } from './keys';

/** Written by the first start on a Redis; what lacks it was never ours, or was ours and is lost. */
export interface Installation {
  id: string;
  created_at: string;
  /** Why data are believed lost; stays until an operator removes it. */
  alarm?: string;
}

/** The marker by which a Redis that lost its data is told from a new one. */
export class InstallationRepository {
  constructor(private readonly redis: Redis) {}

  /** The marker, and whether there are records that only a used installation has. */
  async read(): Promise<{ marker?: Installation; hasRecords: boolean }> {
    const replies = (await this.redis.pipeline().hgetall(keys.installation()).exists(keys.tenants()).exec()) ?? [];
    const [hash, known] = replies.map(([error, reply]) => {
      if (error) throw error;
      return reply;
    });
    const { id, created_at, alarm } = (hash ?? {}) as Record<string, string>; // what HGETALL answers
    const marker = id && { id, created_at: created_at ?? '', ...(alarm && { alarm }) };
    return { ...(marker && { marker }), hasRecords: Number(known) > 0 };
  }

  /** Writes what of the marker is not there yet: of processes that start together, one gives the id. */
  async write({ id, created_at, alarm }: Installation): Promise<void> {
    const key = keys.installation();
    const writing = this.redis.multi().hsetnx(key, 'id', id).hsetnx(key, 'created_at', created_at);
    if (alarm) writing.hsetnx(key, 'alarm', alarm);
    for (const [error] of (await writing.exec()) ?? []) if (error) throw error;
  }
}
