import { isRunEnded, isStepEnded, runStates, stepStates } from './index';

/** See docs/reference/workflows.md#states. */
const runMoves: Record<string, string> = {
  pending: 'running failed cancelled timed_out',
  running: 'waiting succeeded failed denied timed_out cancelled',
  waiting: 'running succeeded failed denied timed_out cancelled',
};
const stepMoves: Record<string, string> = {
  pending: 'running waiting succeeded failed skipped cancelled',
  running: 'succeeded failed denied timed_out cancelled waiting pending',
  waiting: 'succeeded failed denied cancelled timed_out',
};

describe.each([
  [runStates.name, runStates.moves, runMoves],
  [stepStates.name, stepStates.moves, stepMoves],
])('the %s state machine', (_name, table, allowed) => {
  const moves = Object.entries(table).flatMap(([move, { from, to }]) =>
    from.map((state) => [move, state, to] as const),
  );

  it.each(moves)('%s: %s to %s is a transition of the contract', (_move, from, to) => {
    expect(allowed[from]?.split(' ')).toContain(to);
  });

  it('has every transition of the contract, and none out of a terminal state', () => {
    const made = moves.map(([, from, to]) => `${from} ${to}`).sort();
    const wanted = Object.entries(allowed).flatMap(([from, tos]) => tos.split(' ').map((to) => `${from} ${to}`));

    expect([...new Set(made)]).toEqual(wanted.sort());
  });
});

it('terminal states are distinguished from live ones', () => {
  expect(runStates.states.filter((state) => !isRunEnded(state))).toEqual(['pending', 'running', 'waiting']);
  expect(stepStates.states.filter((state) => !isStepEnded(state))).toEqual(['pending', 'running', 'waiting']);
});
