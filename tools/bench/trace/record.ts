import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repositoryRoot } from '../../stack/settings';
import type { Product, ProductOptions } from '../product';
import { roundTrips } from '../round-trips';
import { sequentialMessages, type TraceEvent } from './messages';

const recorded = ['api', 'scheduler', 'engine', 'worker'];

/** Records the messages of the product's processes. */
export class Recording {
  private readonly folder = mkdtempSync(join(tmpdir(), 'svc-bench-trace-'));

  /** Variables for the product that make its processes record. */
  readonly env: NonNullable<ProductOptions['env']> = {
    NODE_OPTIONS: `--require "${join(repositoryRoot, 'tools/bench/trace/recorder.cjs')}"`,
    BENCH_TRACE_DIR: this.folder,
  };

  /** Messages since the previous call. */
  async read(product: Product): Promise<TraceEvent[]> {
    const files = recorded.map((name) => join(this.folder, `${name}.json`));
    for (const name of recorded) product.signal(name, 'SIGUSR2');
    while (!files.every((file) => existsSync(file))) await sleep(20);
    const events = files.flatMap((file) => JSON.parse(readFileSync(file, 'utf8')) as TraceEvent[]);
    for (const file of files) rmSync(file);
    return events;
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Chains of sequential messages, one for each of `count` round trips made one after another. */
export async function recordRoundTrips(product: Product, recording: Recording, count: number): Promise<string[][]> {
  // Fills caches and loads scripts.
  await roundTrips(product, 1, Math.ceil(count / 4));
  await recording.read(product);
  await roundTrips(product, 1, count);
  return sequentialMessages(await recording.read(product));
}
