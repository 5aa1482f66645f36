import { ExportMemory, KeptRows, RowBlocks } from './kept-rows';

/** One row fills a block. */
const BLOCK = 256 * 1_024;
const row = 'x'.repeat(BLOCK);

function keep(memory: ExportMemory, rows: number): KeptRows {
  const kept = new KeptRows(memory);
  for (let i = 1; i <= rows; i++) kept.add(row, `1-${i}`);
  kept.end();
  return kept;
}

/** Ids of all kept rows. */
function drain(kept: KeptRows): string[] {
  const ids: string[] = [];
  for (let block = kept.next(); block; block = kept.next()) ids.push(block.lastId);
  return ids;
}

describe('the memory of exports', () => {
  it('keeps the first rows, in order, until it is full', () => {
    const kept = keep(new ExportMemory(3 * BLOCK), 10);

    expect(kept.isFull).toBe(true);
    expect(drain(kept)).toEqual(['1-1', '1-2', '1-3']);
    // A row after a gap would be sent in the wrong place.
    kept.add(row, '1-11');
    expect(drain(kept)).toEqual([]);
  });

  it('is shared by all exports, and given back when rows are sent or an export ends', () => {
    const memory = new ExportMemory(3 * BLOCK);
    const first = keep(memory, 3);
    const room = () => {
      const probe = keep(memory, 5);
      const found = drain(probe).length;
      probe.release();
      return found;
    };

    expect(room()).toBe(0);
    first.next();
    expect(room()).toBe(1);
    first.release();
    first.release();
    expect(room()).toBe(3);
  });
});

describe('blocks of rows', () => {
  it('contain each row once, in order, also the last ones', () => {
    const blocks = new RowBlocks();
    const rows = Array.from({ length: 1_000 }, (_, i) => `é${i}${'.'.repeat(1_000)}\n`);

    const found = [...rows.map((text, i) => blocks.add(text, String(i))), blocks.end(), blocks.end()].flatMap(
      (block) => block ?? [],
    );

    expect(Buffer.concat(found.map(({ bytes }) => bytes)).toString()).toBe(rows.join(''));
    expect(found.reduce((sum, block) => sum + block.rows, 0)).toBe(1_000);
    expect(found.at(-1)?.lastId).toBe('999');
    expect(found.length).toBeGreaterThan(2);
  });
});
