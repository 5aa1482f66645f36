/**
 * Finds every occurrence of many short texts in one pass, whose speed does not depend on their number (Aho-Corasick).
 * Letters are case-insensitive and `0` in a needle matches any digit.
 */
export interface NeedleSearch {
  /** Class of each byte; class 0 occurs in no needle. */
  classes: Uint8Array;
  /** Next state, at `state + class`: a state is the start of its row. */
  next: Int32Array;
  /** Length of a row. */
  width: number;
  /** From this state on, states end needles; earlier ones do not. */
  firstEnding: number;
  /** Needles that end in each of those states, longest first. */
  ending: readonly (readonly Needle[])[];
}

export interface Needle {
  length: number;
  /** The owner of the needle, as numbered by the caller. */
  owner: number;
}

/** @param needles each with the number of its owner; a text may have several owners */
export function compileNeedles(needles: readonly (readonly [text: string, owner: number])[]): NeedleSearch {
  const { classes, width } = classify(needles.map(([text]) => text));
  const children: Int32Array[] = [new Int32Array(width).fill(-1)];
  const ending: Needle[][] = [[]];
  for (const [text, owner] of needles) {
    let state = 0;
    for (const byte of Buffer.from(text, 'latin1')) {
      const symbol = classes[byte] ?? 0;
      let child = children[state]?.[symbol] ?? -1;
      if (child < 0) {
        child = children.push(new Int32Array(width).fill(-1)) - 1;
        ending.push([]);
        children[state]?.fill(child, symbol, symbol + 1);
      }
      state = child;
    }
    ending[state]?.push({ length: text.length, owner });
  }
  return { classes, width, ...sorted(complete(children, ending, width), ending, width) };
}

/** Moves the states that end needles to the end, so that one comparison identifies them during the search. */
function sorted(
  next: Uint16Array,
  ending: readonly Needle[][],
  width: number,
): Pick<NeedleSearch, 'next' | 'firstEnding' | 'ending'> {
  const states = [...ending.keys()];
  const ends = (state: number) => (ending[state]?.length ?? 0) > 0;
  const order = [...states.filter((state) => !ends(state)), ...states.filter(ends)];
  const getRow = new Map(order.map((state, place) => [state, place * width]));
  const rows = order.flatMap((state) =>
    Array.from(next.subarray(state * width, (state + 1) * width), (to) => getRow.get(to) ?? 0),
  );
  const count = states.filter(ends).length;
  return {
    next: Int32Array.from(rows),
    firstEnding: (states.length - count) * width,
    ending: states.filter(ends).map((state) => ending[state] ?? []),
  };
}

function classify(texts: readonly string[]): { classes: Uint8Array; width: number } {
  const classes = new Uint8Array(256);
  let width = 1;
  for (const byte of new Set(Buffer.from(texts.join(''), 'latin1'))) {
    if (classes[byte]) continue;
    for (const alike of sameClass(byte)) classes[alike] = width;
    width++;
  }
  return { classes, width };
}

function sameClass(byte: number): number[] {
  const text = String.fromCharCode(byte);
  if (/\d/.test(text)) return Array.from({ length: 10 }, (_, digit) => 48 + digit);
  return [...new Set([byte, text.toLowerCase().charCodeAt(0), text.toUpperCase().charCodeAt(0)])].filter(
    (b) => b < 128,
  );
}

/** Gives every state a successor for every class: its own, or that of the longest suffix that is a state. */
function complete(children: readonly Int32Array[], ending: Needle[][], width: number): Uint16Array {
  const next = new Uint16Array(children.length * width);
  const suffix = new Int32Array(children.length);
  const queue = [0];
  for (const state of queue) {
    for (let symbol = 0; symbol < width; symbol++) {
      const fallback = state === 0 ? 0 : (next[(suffix[state] ?? 0) * width + symbol] ?? 0);
      const child = children[state]?.[symbol] ?? -1;
      next[state * width + symbol] = child < 0 ? fallback : child;
      if (child < 0) continue;
      suffix[child] = fallback;
      ending[child]?.push(...(ending[fallback] ?? []));
      queue.push(child);
    }
  }
  return next;
}
