import type { EncodedPacket, Packet } from '@svc/contract';
import type { PoolTable, TimeoutTable } from '@svc/routing';
import type { Store } from '@svc/store';

/** The bus as features use it. `publishDurable` resolves once the bus has stored the message. */
export interface JobBus {
  publish(subject: string, packet: Packet): Promise<void>;
  /** @returns the sequence number of the stored message, if available */
  publishDurable(subject: string, packet: Packet | EncodedPacket): Promise<{ seq: number } | void>;
}

export interface Clock {
  nowMs(): number;
  nowUs(): number;
}

/** Randomness, passed in so that tests can fix it. */
export interface Random {
  uuid(): string;
  hex(bytes: number): string;
  /** In [0, 1). */
  number(): number;
}

/** Limits of the license in effect. -1 = unlimited. See docs/operations.md#license. */
export interface LicenseLimits {
  maxWorkers: number;
  maxConcurrentJobs: number;
  maxPromptChars: number;
}

/** Current content of the pools and timeouts files. */
export interface Fleet {
  pools(): PoolTable;
  timeouts(): TimeoutTable;
}

/** Pools and timeouts stored in a config document. */
export interface StoredFleet extends Fleet {
  /** Reloads the document if it changed: one small read. A call sees every write that precedes it. */
  reload(): Promise<void>;
  /** SHA-256 (hex) of the files of this process; absent when there is no such file. */
  hashes(): { pools?: string; timeouts?: string };
}

export interface Base {
  store: Store;
  clock: Clock;
  random: Random;
}

export interface RetentionSettings {
  deadLetterTtlSec: number;
}
