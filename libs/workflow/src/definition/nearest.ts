const farthest = 3;

/** What the author may have meant: the known word that takes the fewest changes, if few enough. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const most = Math.min(farthest, Math.floor(word.length / 3) + 1);
  let best: { word: string; changes: number } | undefined;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > most) continue;
    const changes = distance(word.toLowerCase(), candidate.toLowerCase());
    if (changes <= most && changes < Math.min(word.length, best?.changes ?? Infinity))
      best = { word: candidate, changes };
  }
  return best?.word;
}

/** ` (did you mean X?)`, or nothing. */
export function hint(word: string, known: Iterable<string>): string {
  const near = nearest(word, known);
  return near === undefined ? '' : ` (did you mean ${near}?)`;
}

/** Letters added, left out, changed, or swapped with the next. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (before[j - 2] ?? 0) + 1 : Infinity,
      );
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? Infinity;
}
