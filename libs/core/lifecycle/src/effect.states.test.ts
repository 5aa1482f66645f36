import { effectStates, type EffectEvent } from './effect.states';

const events = Object.keys(effectStates.moves) as EffectEvent[];

describe('the states of an effect', () => {
  it.each([
    ['begun', ['finish', 'abandon', 'lose']],
    ['unknown', ['finish', 'abandon', 'confirm', 'deny', 'redo']],
    ['not_happened', ['begin']],
    ['retry', ['begin']],
    ['done', []],
    ['happened', []],
  ] as const)('%s permits %j only', (state, permitted) => {
    expect(events.filter((event) => effectStates.next(state, event) !== undefined)).toEqual(permitted);
  });
});
