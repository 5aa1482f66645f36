import type { RunState } from '@svc/workflow';

interface Remembered {
  revision: number;
  run: RunState;
  bytes: number;
}

const mostRuns = 2_000;
const mostBytes = 128 * 1024 * 1024;

/** Runs as this process last saved them, the least recently used forgotten first; the store's revision tells if they hold. */
export class RunMemory {
  private readonly kept = new Map<string, Remembered>();
  private bytes = 0;

  find(id: string, revision: number): Remembered | undefined {
    const kept = this.kept.get(id);
    return kept?.revision === revision ? kept : undefined;
  }

  keep(id: string, remembered: Remembered): void {
    this.forget(id);
    this.kept.set(id, remembered);
    this.bytes += remembered.bytes;
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= mostRuns && this.bytes <= mostBytes) return;
      this.forget(oldest);
    }
  }

  forget(id: string): void {
    this.bytes -= this.kept.get(id)?.bytes ?? 0;
    this.kept.delete(id);
  }
}
