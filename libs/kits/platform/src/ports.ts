import type { Packet } from '@svc/contract';
import type { PoolTable, TimeoutTable } from '@svc/routing';
import type { Store } from '@svc/store';

/** What services need of the bus. Publishing durably resolves once the bus has stored the message. */
export interface JobBus {
  publish(subject: string, packet: Packet): Promise<void>;
  /** Returns the sequence number of the stored message where the process needs it. */
  publishDurable(subject: string, packet: Packet): Promise<{ seq: number } | void>;
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

/** Numbers of the license in force. -1 = unlimited. See docs/operations.md#license. */
export interface LicenseLimits {
  maxWorkers: number;
  maxConcurrentJobs: number;
  maxPromptChars: number;
}

/** The pools and timeouts files as they stand now. */
export interface Fleet {
  pools(): PoolTable;
  timeouts(): TimeoutTable;
}

/** The same, where a config document holds them. */
export interface StoredFleet extends Fleet {
  /** Reads the document again if it was written since: one small read. A reload that begins now sees every earlier write. */
  reload(): Promise<void>;
}

export interface Base {
  store: Store;
  clock: Clock;
  random: Random;
}

export interface RetentionSettings {
  deadLetterTtlSec: number;
}
