import type { Exception, Wording } from './patterns';

export interface Finding {
  file: string;
  line: number;
  found: string;
  wording: Wording;
}

/** A comment may break a phrase between lines, and a file name joins words by hyphens. */
const gap = String.raw`[\s*/#_-]{1,12}`;
const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

function toSource({ words = [], shape, unlessFollowedBy }: Wording): string {
  if (shape) return shape.source;
  const sources = words.flatMap((phrase) => {
    const [first = '', ...others] = phrase.split(' ');
    const joined =
      others.length > 0 ? `(?:${[gap + others.join(gap), others.map(capitalized).join('')].join('|')})` : '';
    return [`(?<![A-Za-z])${first}${joined}`, `(?<![A-Z])${capitalized(first)}${joined}`];
  });
  const following = unlessFollowedBy === undefined ? '' : `(?!${unlessFollowedBy}\\b)`;
  return `(?:${sources.join('|')})(?![a-z])${following}`;
}

/** Finds wordings in the names and texts of files. Text of an exception is ignored. */
export function wordingFinder(wordings: readonly Wording[], exceptions: readonly Exception[]) {
  const rows = wordings.map((wording) => ({ wording, pattern: new RegExp(toSource(wording), 'g') }));
  const any = new RegExp(wordings.map(toSource).join('|'));
  const ignored = exceptions.map(({ in: start = '', text }) => ({
    start,
    pattern: new RegExp(text, `g${text.flags}`),
  }));

  return (file: string, text: string): Finding[] => {
    const content = `${file}\n${text}`;
    if (!any.test(content)) return [];
    const searched = ignored
      .filter(({ start }) => file.startsWith(start))
      .reduce((rest, { pattern }) => rest.replace(pattern, (match) => match.replace(/\S/g, ' ')), content);
    return rows.flatMap(({ wording, pattern }) =>
      [...searched.matchAll(pattern)].map((match) => ({
        file,
        // The name of the file precedes its first line.
        line: Math.max(1, searched.slice(0, match.index).split('\n').length - 1),
        found: match[0].replace(/\s+/g, ' '),
        wording,
      })),
    );
  };
}
