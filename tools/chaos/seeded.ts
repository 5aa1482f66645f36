/** A source of numbers in [0, 1) with the same sequence for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One random item. */
export function pick<T>(items: readonly [T, ...T[]], random: () => number): T {
  return items[Math.floor(random() * items.length)] ?? items[0];
}

/** A uniform sample of the items, in their order. */
export function sample<T>(items: readonly T[], count: number, random: () => number): T[] {
  const rest = items.map((_, i) => i);
  const chosen: number[] = [];
  while (chosen.length < count && rest.length > 0) {
    chosen.push(...rest.splice(Math.floor(random() * rest.length), 1));
  }
  return chosen.sort((a, b) => a - b).flatMap((i) => items.slice(i, i + 1));
}
