const farthest = 3;

/** Suggests the known word with the smallest edit distance, if that is small enough. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const most = Math.min(farthest, Math.floor(word.length / 3) + 1);
  const lower = word.toLowerCase();
  let best: { word: string; changes: number } | undefined;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > most) continue;
    const changes = distance(lower, candidate.toLowerCase(), most);
    if (changes <= most && changes < Math.min(word.length, best?.changes ?? Infinity))
      best = { word: candidate, changes };
  }
  return best?.word;
}

/** ` (did you mean X?)`, or an empty string. */
export function hint(word: string, known: Iterable<string>): string {
  const near = nearest(word, known);
  return near === undefined ? '' : ` (did you mean ${near}?)`;
}

/** Edit distance with transpositions, computed only up to the relevant bound. */
function distance(a: string, b: string, most: number): number {
  let before: number[] = [];
  let last = Array.from(b, (_, i) => i);
  last.push(b.length);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      let changes = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      changes = Math.min(changes, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        changes = Math.min(changes, (before[j - 2] ?? 0) + 1);
      }
      row.push(changes);
      least = Math.min(least, changes);
    }
    // One row beyond the bound, because a transposition uses the previous row.
    if (least > most + 1) return Infinity;
    before = last;
    last = row;
  }
  return last[b.length] ?? Infinity;
}
