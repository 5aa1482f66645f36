/** One call of one client, as the client observed it. */
export interface Operation<Input, Output> {
  input: Input;
  /** Undefined without a response: the call may have taken effect at any later time, or never. */
  output: Output | undefined;
  /** On one clock for all clients, such as performance.now(). */
  calledMs: number;
  returnedMs: number;
}

/** Sequential specification of the system under test. */
export interface Model<State, Input, Output> {
  begin: State;
  /** The state after this call, or undefined if the output is not possible; an undefined `output` matches any. */
  step(state: State, input: Input, output: Output | undefined): State | undefined;
  /** Equal for equal states. */
  key(state: State): string;
}

export type Linearized<Input, Output> =
  | { ok: true }
  /** No order explains the history. `explained` is the longest order found, `inexplicable` the operation it stops at. */
  | { ok: false; explained: readonly Operation<Input, Output>[]; inexplicable: Operation<Input, Output> };

/** A call or return in a linked list, from which operations are removed as they are placed in the order. */
interface Entry {
  op: number;
  returning: Entry | undefined;
  before: Entry | undefined;
  after: Entry | undefined;
}

/**
 * Checks whether a history is linearizable: whether each operation can have taken effect at one moment between its call and
 * its return. Uses the search of Wing and Gong with Lowe's cache of visited states.
 */
export function linearized<State, Input, Output>(
  history: readonly Operation<Input, Output>[],
  model: Model<State, Input, Output>,
): Linearized<Input, Output> {
  const head = toList(history);
  const placed: { entry: Entry; state: State; bits: bigint }[] = [];
  const tried = new Set<string>();
  let longest: number[] = [];
  let stuck = 0;
  let state = model.begin;
  let bits = 0n;
  let entry = head.after;

  for (;;) {
    const op = entry && history[entry.op];
    // Only calls without a response remain.
    if (!entry || !op || (!entry.returning && op.output === undefined)) return { ok: true };
    if (entry.returning) {
      const next = model.step(state, op.input, op.output);
      const nextBits = bits | (1n << BigInt(entry.op));
      const key = next === undefined ? '' : `${nextBits.toString(36)} ${model.key(next)}`;
      if (next === undefined || tried.has(key)) {
        entry = entry.after;
        continue;
      }
      tried.add(key);
      placed.push({ entry, state, bits });
      [state, bits] = [next, nextBits];
      unlink(entry);
      entry = head.after;
    } else {
      // A return whose call has no place yet: backtrack.
      if (placed.length >= longest.length) [longest, stuck] = [placed.map((each) => each.entry.op), entry.op];
      const last = placed.pop();
      if (!last) return failure(history, longest, stuck);
      relink(last.entry);
      ({ state, bits } = last);
      entry = last.entry.after;
    }
  }
}

function failure<Input, Output>(
  history: readonly Operation<Input, Output>[],
  longest: readonly number[],
  stuck: number,
): Linearized<Input, Output> {
  const explained = longest.flatMap((op) => history[op] ?? []);
  const inexplicable = history[stuck];
  if (!inexplicable) throw new Error('an empty history is always linearizable');
  return { ok: false, explained, inexplicable };
}

/** Links calls and returns by time; calls come first on a tie, so that such operations count as concurrent. */
function toList(history: readonly Operation<unknown, unknown>[]): Entry {
  const head: Entry = { op: -1, returning: undefined, before: undefined, after: undefined };
  const events = history.flatMap(({ output, calledMs, returnedMs }, op) => {
    const returned: Entry = { op, returning: undefined, before: undefined, after: undefined };
    const called: Entry = { op, returning: returned, before: undefined, after: undefined };
    const endMs = output === undefined ? Infinity : returnedMs;
    return [{ atMs: calledMs, rank: 0, entry: called }, { atMs: endMs, rank: 1, entry: returned }]; // prettier-ignore
  });
  // Compared before subtracting: Infinity - Infinity is NaN.
  events.sort((a, b) => (a.atMs === b.atMs ? a.rank - b.rank : a.atMs - b.atMs));
  let last = head;
  for (const { entry } of events) {
    last.after = entry;
    entry.before = last;
    last = entry;
  }
  return head;
}

function unlink(call: Entry): void {
  for (const entry of [call, call.returning]) {
    if (!entry) continue;
    if (entry.before) entry.before.after = entry.after;
    if (entry.after) entry.after.before = entry.before;
  }
}

/** Restores entries in the reverse order of `unlink`, so that each finds its former neighbours. */
function relink(call: Entry): void {
  for (const entry of [call.returning, call]) {
    if (!entry) continue;
    if (entry.before) entry.before.after = entry;
    if (entry.after) entry.after.before = entry;
  }
}

/** Records the operations of concurrent clients. */
export class History<Input, Output> {
  readonly operations: Operation<Input, Output>[] = [];

  /** Runs and records a call; a call that throws is recorded without an output. */
  async call(input: Input, run: () => Promise<Output>): Promise<Output> {
    const operation: Operation<Input, Output> = { input, output: undefined, calledMs: performance.now(), returnedMs: Infinity }; // prettier-ignore
    this.operations.push(operation);
    const output = await run();
    operation.output = output;
    operation.returnedMs = performance.now();
    return output;
  }
}
