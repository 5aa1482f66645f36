/**
 * Reachability between steps as a bit matrix, since a set per step would take megabytes. A step reaches the steps it names and
 * those that its parents reach. Cycles are allowed.
 */
export class Reach {
  private readonly places: ReadonlyMap<string, number>;
  private readonly rows: Uint32Array[];

  /** @param order parents first, so that one pass is enough */
  constructor(
    private readonly order: readonly string[],
    inherits: (id: string) => readonly string[],
    names: (id: string) => readonly string[],
  ) {
    this.places = new Map(order.map((id, index) => [id, index]));
    const words = Math.ceil(order.length / 32);
    this.rows = order.map((id) => {
      const row = new Uint32Array(words);
      for (const other of names(id)) this.mark(row, other);
      return row;
    });
    const from = order.map((id) => inherits(id).flatMap((other) => this.places.get(other) ?? []));
    let changed = true;
    while (changed) changed = this.pass(from);
  }

  has(id: string, other: string): boolean {
    const [row, place] = [this.rows[this.places.get(id) ?? -1], this.places.get(other)];
    return row !== undefined && place !== undefined && isMarked(row, place);
  }

  of(id: string): string[] {
    const row = this.rows[this.places.get(id) ?? -1];
    return row ? this.order.filter((_, place) => isMarked(row, place)) : [];
  }

  private pass(from: readonly (readonly number[])[]): boolean {
    let changed = false;
    this.rows.forEach((row, index) => {
      for (const place of from[index] ?? []) {
        const other = this.rows[place];
        if (other) changed = merge(row, other) || changed;
      }
    });
    return changed;
  }

  private mark(row: Uint32Array, id: string): void {
    const place = this.places.get(id);
    if (place !== undefined) row[place >>> 5] = (row[place >>> 5] ?? 0) | (1 << (place & 31));
  }
}

const isMarked = (row: Uint32Array, place: number): boolean => (((row[place >>> 5] ?? 0) >>> (place & 31)) & 1) === 1;

/** @returns whether the row changed */
function merge(row: Uint32Array, other: Uint32Array): boolean {
  let changed = false;
  for (let i = 0; i < row.length; i++) {
    const before = row[i] ?? 0;
    const after = (before | (other[i] ?? 0)) >>> 0;
    if (after === before) continue;
    row[i] = after;
    changed = true;
  }
  return changed;
}
