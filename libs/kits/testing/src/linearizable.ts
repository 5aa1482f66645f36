/** One call of one client, as it saw it. */
export interface Operation<Input, Output> {
  input: Input;
  /** Undefined when no answer came: it may have happened at any time since, or never. */
  output: Output | undefined;
  /** On one clock for all clients, such as performance.now(). */
  calledMs: number;
  returnedMs: number;
}

/** What a thing does when it is asked one thing after the other. */
export interface Model<State, Input, Output> {
  begin: State;
  /** The state after this call, or undefined when it cannot have been answered so; `output` undefined: whatever was answered. */
  step(state: State, input: Input, output: Output | undefined): State | undefined;
  /** The same for states that are the same. */
  key(state: State): string;
}

export type Linearized<Input, Output> =
  | { ok: true }
  /** No order explains the history: this is how far the longest one comes, and the answer that none of them explains. */
  | { ok: false; explained: readonly Operation<Input, Output>[]; inexplicable: Operation<Input, Output> };

/** A call or a return, in a list that calls are taken out of as they get their place in the order. */
interface Entry {
  op: number;
  returning: Entry | undefined;
  before: Entry | undefined;
  after: Entry | undefined;
}

/**
 * Whether some order of the operations explains every answer, in which none comes before one that had returned when it was
 * called: the whole history then looks as if each took effect at one moment between its call and its return. The search is
 * that of Wing and Gong, with Lowe's memory of what was tried.
 */
export function linearized<State, Input, Output>(
  history: readonly Operation<Input, Output>[],
  model: Model<State, Input, Output>,
): Linearized<Input, Output> {
  const head = listOf(history);
  const placed: { entry: Entry; state: State; bits: bigint }[] = [];
  const tried = new Set<string>();
  let longest: number[] = [];
  let stuck = 0;
  let state = model.begin;
  let bits = 0n;
  let entry = head.after;

  for (;;) {
    const op = entry && history[entry.op];
    // All that remains are calls that nobody heard of again.
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
      takeOut(entry);
      entry = head.after;
    } else {
      // It returned, and must have had its place by now.
      if (placed.length >= longest.length) [longest, stuck] = [placed.map((each) => each.entry.op), entry.op];
      const last = placed.pop();
      if (!last) return failure(history, longest, stuck);
      putBack(last.entry);
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
  if (!inexplicable) throw new Error('a history of nothing is always explained');
  return { ok: false, explained, inexplicable };
}

/** Calls and returns by their time; of the same moment calls come first, so that such operations count as concurrent. */
function listOf(history: readonly Operation<unknown, unknown>[]): Entry {
  const head: Entry = { op: -1, returning: undefined, before: undefined, after: undefined };
  const events = history.flatMap(({ output, calledMs, returnedMs }, op) => {
    const returned: Entry = { op, returning: undefined, before: undefined, after: undefined };
    const called: Entry = { op, returning: returned, before: undefined, after: undefined };
    const endMs = output === undefined ? Infinity : returnedMs;
    return [{ atMs: calledMs, rank: 0, entry: called }, { atMs: endMs, rank: 1, entry: returned }]; // prettier-ignore
  });
  // Two that never returned are at the same moment, where a difference would be no number.
  events.sort((a, b) => (a.atMs === b.atMs ? a.rank - b.rank : a.atMs - b.atMs));
  let last = head;
  for (const { entry } of events) {
    last.after = entry;
    entry.before = last;
    last = entry;
  }
  return head;
}

function takeOut(call: Entry): void {
  for (const entry of [call, call.returning]) {
    if (!entry) continue;
    if (entry.before) entry.before.after = entry.after;
    if (entry.after) entry.after.before = entry.before;
  }
}

/** In the reverse order of taking them out, so that each finds its neighbours where it left them. */
function putBack(call: Entry): void {
  for (const entry of [call.returning, call]) {
    if (!entry) continue;
    if (entry.before) entry.before.after = entry;
    if (entry.after) entry.after.before = entry;
  }
}

/** Notes what several clients do at once. */
export class History<Input, Output> {
  readonly operations: Operation<Input, Output>[] = [];

  /** Makes a call and notes it; one that throws is noted as one that nobody answered. */
  async call(input: Input, run: () => Promise<Output>): Promise<Output> {
    const operation: Operation<Input, Output> = { input, output: undefined, calledMs: performance.now(), returnedMs: Infinity }; // prettier-ignore
    this.operations.push(operation);
    const output = await run();
    operation.output = output;
    operation.returnedMs = performance.now();
    return output;
  }
}
