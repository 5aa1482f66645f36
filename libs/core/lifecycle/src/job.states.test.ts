import { jobStates, terminalStates, isTerminal, type JobState } from './index';

/** See docs/reference/jobs.md#states. */
const allowed: Record<string, string> = {
  PENDING: 'APPROVAL_REQUIRED SCHEDULED DISPATCHED RUNNING RETRYING DENIED FAILED TIMEOUT SUCCEEDED CANCELLED',
  APPROVAL_REQUIRED: 'PENDING SCHEDULED DISPATCHED RUNNING DENIED FAILED TIMEOUT SUCCEEDED CANCELLED',
  SCHEDULED: 'SCHEDULED DISPATCHED RUNNING RETRYING DENIED FAILED TIMEOUT SUCCEEDED CANCELLED OUTPUT_QUARANTINED',
  DISPATCHED: 'SCHEDULED RUNNING RETRYING SUCCEEDED FAILED CANCELLED TIMEOUT OUTPUT_QUARANTINED',
  RUNNING: 'RUNNING RETRYING SUCCEEDED FAILED CANCELLED TIMEOUT OUTPUT_QUARANTINED',
  RETRYING: 'SCHEDULED DISPATCHED RUNNING RETRYING SUCCEEDED FAILED CANCELLED TIMEOUT',
  SUCCEEDED: 'OUTPUT_QUARANTINED',
};

describe('the job state machine', () => {
  const moves = Object.entries(jobStates.moves).flatMap(([event, { from, to }]) =>
    from.map((state) => [event, state, to] as const),
  );

  it.each(moves)('%s: %s to %s is a transition of the contract', (_event, from, to) => {
    expect(allowed[from]?.split(' ')).toContain(to);
  });

  it('has no transition out of a terminal state except the quarantine of a success', () => {
    const ways = moves.filter(([, from]) => isTerminal(from as JobState));

    expect(ways).toEqual([['quarantine', 'SUCCEEDED', 'OUTPUT_QUARANTINED']]);
  });

  it('allows cancel and timeout in every live state', () => {
    const live = jobStates.states.filter((state) => !(terminalStates as readonly string[]).includes(state));

    for (const state of live) {
      expect([state, jobStates.next(state, 'cancel')]).toEqual([state, 'CANCELLED']);
      expect([state, jobStates.next(state, 'timeOut')]).toEqual([state, 'TIMEOUT']);
    }
  });
});
