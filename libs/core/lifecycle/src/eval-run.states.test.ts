import { evalRunStates, type EvalRunEvent } from './eval-run.states';

const events = Object.keys(evalRunStates.moves) as EvalRunEvent[];

describe('the states of a run of a dataset', () => {
  it.each([
    ['pending', ['begin', 'fail', 'abandon']],
    ['running', ['begin', 'progress', 'complete', 'fail', 'abandon']],
    ['completed', []],
    ['failed', []],
  ] as const)('%s permits %j only', (state, permitted) => {
    expect(events.filter((event) => evalRunStates.next(state, event) !== undefined)).toEqual(permitted);
  });
});
