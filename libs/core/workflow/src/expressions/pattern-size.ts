const repeat = /\{(\d+)(?:,(\d*))?\}/y;
const classStart = /\[\^?\]?/y;

/**
 * Upper bound of the instructions that a regular expression compiles to, without compiling it: engines expand counted
 * repeats, so thirty characters can become a hundred thousand instructions.
 *
 * @returns undefined when the pattern quotes with `\Q`, which this parser does not support
 */
export function patternSize(source: string): number | undefined {
  const outer: number[] = [];
  let size = 0;
  let lastAtom = 0;
  const atom = (atomSize: number) => {
    lastAtom = atomSize;
    size += atomSize;
  };
  for (let at = 0; at < source.length; at += 1) {
    const char = source[at];
    repeat.lastIndex = at;
    const [written, least, most] = repeat.exec(source) ?? [];
    if (written !== undefined) {
      const times = Math.max(1, Number(least), Number(most ?? 0));
      size += lastAtom * (times - 1);
      lastAtom *= times;
      at += written.length - 1;
    } else if (char === '(') {
      outer.push(size);
      size = 0;
    } else if (char === ')') {
      const group = size + 2;
      size = outer.pop() ?? 0;
      atom(group);
    } else if (source.startsWith('\\Q', at)) {
      return undefined;
    } else {
      atom(1);
      if (char === '\\') at += 1;
      else if (char === '[') at = classEnd(source, at);
    }
  }
  return size + outer.reduce((sum, one) => sum + one, 0);
}

/** Position of the `]` that closes a class; one directly after its start belongs to it. */
function classEnd(source: string, start: number): number {
  classStart.lastIndex = start;
  let at = start + (classStart.exec(source)?.[0].length ?? 1);
  while (at < source.length && source[at] !== ']') {
    const named = source.startsWith('[:', at) ? source.indexOf(':]', at) : -1;
    if (named !== -1) at = named + 2;
    else at += source[at] === '\\' ? 2 : 1;
  }
  return at;
}
