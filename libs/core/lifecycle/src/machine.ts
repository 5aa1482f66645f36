interface Move {
  from: readonly string[];
  to: string;
}

/**
 * A state machine is its table: states and events are read off it, so nothing is listed twice. The script that applies a
 * move, the diagram in the docs and the random-walk test all use the same object.
 */
export function machine<const Moves extends Record<string, Move>>(name: string, moves: Moves) {
  type State = Moves[keyof Moves]['to'] | Moves[keyof Moves]['from'][number];
  type Event = keyof Moves & string;
  const table: Record<string, Move> = moves;
  return {
    name,
    moves: moves as { readonly [E in Event]: { readonly from: readonly State[]; readonly to: State } },
    /** The state an event leads to, or undefined when the state does not allow it. */
    next: (state: State, event: Event): State | undefined => {
      const move = table[event];
      return move?.from.includes(state) ? (move.to as State) : undefined;
    },
    /** Every state the table mentions, in order of first mention. */
    states: [...new Set(Object.values(table).flatMap(({ from, to }) => [...from, to]))] as State[],
  };
}

export type EventOf<M extends { moves: object }> = keyof M['moves'] & string;
export type StateOf<M extends { next(...args: never): unknown }> = Parameters<M['next']>[0];
