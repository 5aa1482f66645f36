import { keys } from '@svc/store';
import type { Redis } from 'ioredis';

/** Marker written by the first start on a Redis. Without it, the Redis is new or has lost its data. */
export interface Installation {
  id: string;
  created_at: string;
  /** Reason for suspected data loss; kept until an operator removes it. */
  alarm?: string;
}

/** Stores the marker that distinguishes a new Redis from one that lost its data. */
export class InstallationRepository {
  constructor(private readonly redis: Redis) {}

  /** Reads the marker, and whether there are records of an existing installation. */
  async read(): Promise<{ marker?: Installation; hasRecords: boolean }> {
    const replies = (await this.redis.pipeline().hgetall(keys.installation()).exists(keys.tenants()).exec()) ?? [];
    const [hash, known] = replies.map(([error, reply]) => {
      if (error) throw error;
      return reply;
    });
    const { id, created_at, alarm } = (hash ?? {}) as Record<string, string>; // the reply of HGETALL
    const marker = id && { id, created_at: created_at ?? '', ...(alarm && { alarm }) };
    return { ...(marker && { marker }), hasRecords: Number(known) > 0 };
  }

  /** Writes missing fields of the marker, so that one of several starting processes sets the id. */
  async write({ id, created_at, alarm }: Installation): Promise<void> {
    const key = keys.installation();
    const writing = this.redis.multi().hsetnx(key, 'id', id).hsetnx(key, 'created_at', created_at);
    if (alarm) writing.hsetnx(key, 'alarm', alarm);
    for (const [error] of (await writing.exec()) ?? []) if (error) throw error;
  }
}
