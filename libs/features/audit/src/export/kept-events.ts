import type { StoredAuditEvent } from '@svc/store';

/** Of an event besides its text: hashes, id and objects. */
const OVERHEAD_BYTES = 512;

/** Memory that all exports of a process share for events that were verified and are not written yet. */
export class ExportMemory {
  constructor(private leftBytes: number) {}

  take(bytes: number): boolean {
    if (bytes > this.leftBytes) return false;
    this.leftBytes -= bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.leftBytes += bytes;
  }
}

/**
 * The first events of an export, kept from their verification to their writing, so that they are read once. The other events
 * are read again. Release it in any case, or the memory stays taken.
 */
export class KeptEvents {
  private events: StoredAuditEvent[] = [];
  private isFull = false;
  private bytes = 0;

  constructor(private readonly memory: ExportMemory) {}

  /** Keeps an event if it follows those that are kept, and there is room. */
  add(event: StoredAuditEvent): void {
    if (this.isFull) return;
    const bytes = event.text.length + OVERHEAD_BYTES;
    if (!this.memory.take(bytes)) {
      this.isFull = true;
      return;
    }
    this.bytes += bytes;
    this.events.push(event);
  }

  /** The next kept events, oldest first. */
  next(count: number): StoredAuditEvent[] {
    const taken = this.events.splice(0, count);
    const bytes = taken.reduce((sum, { text }) => sum + text.length + OVERHEAD_BYTES, 0);
    this.giveBack(bytes);
    return taken;
  }

  release(): void {
    this.isFull = true;
    this.events = [];
    this.giveBack(this.bytes);
  }

  private giveBack(bytes: number): void {
    this.bytes -= bytes;
    this.memory.giveBack(bytes);
  }
}
