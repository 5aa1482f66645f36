import { TenantTurns } from './tenant-turns';

const take = (turns: TenantTurns<string>, count = Infinity): string[] => {
  const taken: string[] = [];
  while (taken.length < count) {
    const item = turns.shift();
    if (item === undefined) break;
    taken.push(item);
  }
  return taken;
};
const list = (tenant: string, count: number) => Array.from({ length: count }, (_, i) => `${tenant}${i + 1}`);
const countItems = (items: readonly string[], tenant: string) => items.filter((item) => item.startsWith(tenant)).length;

describe('turns of tenants', () => {
  it('alternate, and each tenant is served in order', () => {
    const turns = new TenantTurns<string>(10);
    for (const item of ['a1', 'a2', 'a3', 'b1', 'b2']) turns.push(item.charAt(0), item);

    expect(take(turns)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
  });

  it('follow weights: a tenant of weight 4 gets four turns for one of another', () => {
    const turns = new TenantTurns<string>(100);
    for (const item of list('b', 40)) turns.push('b', item);
    for (const item of list('a', 40)) turns.push('a', item, 0.25);

    expect(countItems(take(turns, 25), 'a')).toBe(20);
  });

  it('follow weights also for a tenant that adds one item at a time', () => {
    const turns = new TenantTurns<string>(100);
    for (const item of list('a', 40)) turns.push('a', item, 0.25);
    const taken: string[] = [];
    turns.push('b', 'b');
    while (taken.length < 25) {
      const [item = ''] = take(turns, 1);
      taken.push(item);
      if (item === 'b') turns.push('b', 'b');
    }

    expect(countItems(taken, 'b')).toBeGreaterThanOrEqual(5);
    expect(countItems(taken, 'b')).toBeLessThanOrEqual(6);
  });

  it('are not saved up while a tenant has no items', () => {
    const turns = new TenantTurns<string>(100);
    turns.push('b', 'b0');
    for (const item of list('a', 20)) turns.push('a', item);
    take(turns, 11);
    for (const item of list('b', 5)) turns.push('b', item);

    expect(countItems(take(turns, 6), 'b')).toBe(3);
  });

  it('a full list drops the newest item of the tenant furthest beyond its share, not those of others', () => {
    const turns = new TenantTurns<string>(3);
    for (const item of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1']) turns.push(item.charAt(0), item);
    expect(take(turns)).toEqual(['a1', 'b1', 'c1']);

    for (const item of list('a', 3)) turns.push('a', item, 0.25);
    turns.push('b', 'b1');
    turns.push('b', 'b2');
    expect(countItems(take(turns), 'b')).toBe(1);
  });
});
