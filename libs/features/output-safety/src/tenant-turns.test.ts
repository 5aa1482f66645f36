import { TenantTurns } from './tenant-turns';

const takeAll = (turns: TenantTurns<string>): string[] => {
  const taken: string[] = [];
  for (let item = turns.shift(); item !== undefined; item = turns.shift()) taken.push(item);
  return taken;
};

describe('turns of tenants', () => {
  it('alternate, and each tenant is served in order', () => {
    const turns = new TenantTurns<string>(10);
    for (const item of ['a1', 'a2', 'a3', 'b1', 'b2']) turns.push(item.charAt(0), item);

    expect(takeAll(turns)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
  });

  it('a full list drops the newest item of the largest tenant, not those of others', () => {
    const turns = new TenantTurns<string>(3);
    for (const item of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1']) turns.push(item.charAt(0), item);

    expect(takeAll(turns)).toEqual(['a1', 'b1', 'c1']);
  });
});
