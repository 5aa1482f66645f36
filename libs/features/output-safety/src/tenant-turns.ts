interface Share<T> {
  items: { item: T; cost: number }[];
  /** Position of its next turn. */
  turn: number;
}

/**
 * A bounded list of waiting work in which tenants take turns, by weight: after an item of cost c, the next turn of its tenant
 * is c later. A tenant without items keeps its position until the others have reached it, so that it gains nothing by adding
 * its items one by one. When the list is full, the newest item of the tenant that is furthest beyond its share is dropped:
 * one tenant cannot keep others out.
 */
export class TenantTurns<T> {
  private readonly shares = new Map<string, Share<T>>();
  private size = 0;
  /** Position of the last turn. */
  private now = 0;

  constructor(private readonly maxItems: number) {}

  /** @param cost of a turn: 1, or less for a tenant of higher weight */
  push(tenant: string, item: T, cost = 1): void {
    const share = this.shares.get(tenant) ?? { items: [], turn: this.now };
    // A tenant that had no items does not catch up on missed turns.
    if (share.items.length === 0) share.turn = Math.max(share.turn, this.now);
    share.items.push({ item, cost });
    this.shares.set(tenant, share);
    this.size++;
    if (this.size > this.maxItems) this.dropNewest();
  }

  /** The oldest item of the tenant whose turn it is. */
  shift(): T | undefined {
    const next = this.findNext();
    const first = next?.items.shift();
    if (!next || !first) return undefined;
    this.size--;
    this.now = next.turn;
    next.turn += first.cost;
    return first.item;
  }

  private findNext(): Share<T> | undefined {
    let next: Share<T> | undefined;
    for (const [tenant, share] of this.shares) {
      if (share.items.length > 0) {
        if (!next || share.turn < next.turn) next = share;
      } else if (share.turn <= this.now) this.shares.delete(tenant);
    }
    // Without waiting items, no tenant is behind another.
    if (!next) this.shares.clear();
    return next;
  }

  private dropNewest(): void {
    let largest: { share: Share<T>; excess: number } | undefined;
    for (const share of this.shares.values()) {
      // The first item of a tenant is not beyond its share, whatever its weight.
      const excess = (share.items.length - 1) * (share.items.at(-1)?.cost ?? 1);
      if (!largest || excess >= largest.excess) largest = { share, excess };
    }
    if (largest?.share.items.pop()) this.size--;
  }
}
