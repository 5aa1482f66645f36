import { poolStates, type PoolEvent } from './pool.states';

const events = Object.keys(poolStates.moves) as PoolEvent[];

describe('the states of a pool', () => {
  it.each([
    ['active', ['drain', 'deactivate', 'remove']],
    ['draining', ['finish', 'deactivate', 'activate']],
    ['inactive', ['activate', 'remove']],
    ['deleted', []],
  ] as const)('%s permits %j only', (state, permitted) => {
    expect(events.filter((event) => poolStates.next(state, event) !== undefined)).toEqual(permitted);
  });

  it('draining is entered by a drain only, and left for inactive or active', () => {
    expect(events.filter((event) => poolStates.moves[event].to === 'draining')).toEqual(['drain']);
    expect(events.flatMap((event) => poolStates.next('draining', event) ?? [])).toEqual([
      'inactive',
      'inactive',
      'active',
    ]);
  });
});
