/**
 * A bounded list of waiting work in which tenants take turns. When it is full, the newest item of the tenant with the most items
 * is dropped: one tenant cannot keep others out.
 */
export class TenantTurns<T> {
  /** In the order of their next turns; no list is empty. */
  private readonly lists = new Map<string, T[]>();
  private size = 0;

  constructor(private readonly maxItems: number) {}

  push(tenant: string, item: T): void {
    const list = this.lists.get(tenant);
    if (list) list.push(item);
    else this.lists.set(tenant, [item]);
    this.size++;
    if (this.size > this.maxItems) this.dropNewest();
  }

  /** The oldest item of the tenant whose turn it is. */
  shift(): T | undefined {
    const [next] = this.lists;
    if (!next) return undefined;
    const [tenant, list] = next;
    const item = list.shift();
    this.size--;
    this.lists.delete(tenant);
    if (list.length > 0) this.lists.set(tenant, list);
    return item;
  }

  private dropNewest(): void {
    let largest: [tenant: string, list: T[]] | undefined;
    for (const entry of this.lists) if (!largest || entry[1].length > largest[1].length) largest = entry;
    if (!largest) return;
    const [tenant, list] = largest;
    list.pop();
    this.size--;
    if (list.length === 0) this.lists.delete(tenant);
  }
}
