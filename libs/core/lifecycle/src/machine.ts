interface Move {
  from: readonly string[];
  to: string;
}

/**
 * Builds a state machine from its transition table. States and events are derived from the table, which the transition
 * script, the diagram in the docs and the random-walk test share.
 */
export function machine<const Moves extends Record<string, Move>>(name: string, moves: Moves) {
  type State = Moves[keyof Moves]['to'] | Moves[keyof Moves]['from'][number];
  type Event = keyof Moves & string;
  const table: Record<string, Move> = moves;
  return {
    name,
    moves: moves as { readonly [E in Event]: { readonly from: readonly State[]; readonly to: State } },
    /** Target state of an event, or undefined if the event is not allowed in the state. */
    next: (state: State, event: Event): State | undefined => {
      const move = table[event];
      return move?.from.includes(state) ? (move.to as State) : undefined;
    },
    /** All states, in order of first occurrence in the table. */
    states: [...new Set(Object.values(table).flatMap(({ from, to }) => [...from, to]))] as State[],
  };
}

export type EventOf<M extends { moves: object }> = keyof M['moves'] & string;
export type StateOf<M extends { next(...args: never): unknown }> = Parameters<M['next']>[0];
