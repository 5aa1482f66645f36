/**
 * Finds cycles, each as a path that ends with its first step. Reports one cycle per closing edge, at limit `limit`; breaking all
 * of them leaves no cycle.
 */
export function findCycles(
  ids: readonly string[],
  leadsTo: (id: string) => readonly string[],
  limit: number,
): string[][] {
  const state = new Map<string, 'open' | 'done'>();
  const cycles: string[][] = [];
  for (const root of ids) {
    if (state.has(root)) continue;
    state.set(root, 'open');
    const trail = [{ id: root, left: leadsTo(root).values() }];
    for (let top = trail.at(-1); top; top = trail.at(-1)) {
      const { value: next } = top.left.next();
      if (next === undefined) {
        state.set(top.id, 'done');
        trail.pop();
      } else if (!state.has(next)) {
        state.set(next, 'open');
        trail.push({ id: next, left: leadsTo(next).values() });
      } else if (state.get(next) === 'open') {
        const way = trail.map(({ id }) => id);
        cycles.push([...way.slice(way.indexOf(next)), next]);
        if (cycles.length === limit) return cycles;
      }
    }
  }
  return cycles;
}

const shown = 12;

/** `a → b → a`; the middle of a long cycle is omitted. */
export function cycleText(cycle: readonly string[]): string {
  if (cycle.length <= shown) return cycle.join(' → ');
  const half = shown / 2;
  return [...cycle.slice(0, half), `… ${cycle.length - shown} more …`, ...cycle.slice(-half)].join(' → ');
}
