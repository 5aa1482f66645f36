/** Memory that all exports of a process share for rows that are not sent yet. */
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

/** Consecutive rows of an export, as they are sent. */
export interface RowBlock {
  bytes: Buffer;
  rows: number;
  /** Id of the event of the last row. */
  lastId: string;
}

const BLOCK_CHARS = 256 * 1_024;

/** Joins rows to blocks. Bytes outside of the heap, because strings that wait would cost the garbage collector. */
export class RowBlocks {
  private texts: string[] = [];
  private chars = 0;
  private lastId = '';

  /** @returns a block when one is complete */
  add(text: string, id: string): RowBlock | undefined {
    this.texts.push(text);
    this.chars += text.length;
    this.lastId = id;
    return this.chars >= BLOCK_CHARS ? this.end() : undefined;
  }

  /** The rows since the last block; undefined = none. */
  end(): RowBlock | undefined {
    const { texts, lastId } = this;
    if (texts.length === 0) return undefined;
    this.texts = [];
    this.chars = 0;
    return { bytes: Buffer.from(texts.join(''), 'utf8'), rows: texts.length, lastId };
  }
}

/**
 * The first rows of an export, written while their events are verified and kept until the verification is complete, so that
 * these events are read once. Release it in any case, or the memory stays taken.
 */
export class KeptRows {
  private readonly blocks: RowBlock[] = [];
  private readonly open = new RowBlocks();
  private full = false;
  private bytes = 0;

  constructor(private readonly memory: ExportMemory) {}

  /** Rows after one that was not kept would be sent in the wrong place. */
  get isFull(): boolean {
    return this.full;
  }

  /** Keeps a row if there is room. @param id of its event */
  add(text: string, id: string): void {
    if (!this.full) this.keep(this.open.add(text, id));
  }

  /** Call it after the last row. */
  end(): void {
    if (!this.full) this.keep(this.open.end());
  }

  /** The next kept rows, which are then no longer kept; undefined = none are left. */
  next(): RowBlock | undefined {
    const block = this.blocks.shift();
    if (block) this.giveBack(block.bytes.length);
    return block;
  }

  release(): void {
    this.full = true;
    this.blocks.length = 0;
    this.giveBack(this.bytes);
  }

  private keep(block: RowBlock | undefined): void {
    if (!block) return;
    if (!this.memory.take(block.bytes.length)) {
      this.full = true;
      return;
    }
    this.bytes += block.bytes.length;
    this.blocks.push(block);
  }

  private giveBack(bytes: number): void {
    this.bytes -= bytes;
    this.memory.giveBack(bytes);
  }
}
