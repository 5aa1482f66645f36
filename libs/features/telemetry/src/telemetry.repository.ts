import { keys } from '@svc/store';
import type { Redis } from 'ioredis';

export interface TelemetryState {
  /** The choice of an administrator; null without one. */
  consent: string | null;
  /** The last snapshot, as it is sent. */
  snapshot: string | null;
  /** Unix ms; 0 = never. */
  collectedMs: number;
  reportedMs: number;
}

/** The choice and the last snapshot, in one hash. */
export class TelemetryRepository {
  constructor(private readonly redis: Redis) {}

  async read(): Promise<TelemetryState> {
    const fields = ['consent', 'snapshot', 'collected_ms', 'reported_ms'] as const;
    const [consent = null, snapshot = null, collected, reported] = await this.redis.hmget(keys.telemetry(), ...fields);
    return { consent, snapshot, collectedMs: Number(collected ?? 0), reportedMs: Number(reported ?? 0) };
  }

  async writeConsent(mode: string): Promise<void> {
    await this.redis.hset(keys.telemetry(), 'consent', mode);
  }

  async writeSnapshot(snapshot: string, collectedMs: number): Promise<void> {
    await this.redis.hset(keys.telemetry(), 'snapshot', snapshot, 'collected_ms', String(collectedMs));
  }

  async writeReported(reportedMs: number): Promise<void> {
    await this.redis.hset(keys.telemetry(), 'reported_ms', String(reportedMs));
  }

  /** Id of the installation in snapshots: the first one that was proposed. */
  async installId(proposed: string): Promise<string> {
    await this.redis.hsetnx(keys.telemetry(), 'install_id', proposed);
    return (await this.redis.hget(keys.telemetry(), 'install_id')) ?? proposed;
  }
}
