/** Each backslash of a run is a possible start, so lengths are bounded. Escaped line ends and tabs, also nested, and terminal colours. */
const escapeChar = String.fromCharCode(0x1b);
const marks = new RegExp(
  `\\\\{1,8}[nrt]|(?:\\\\{1,8}(?:u001[bB]|x1[bB]|e|033)|${escapeChar})\\[[0-9;]{0,16}[A-Za-z]`,
  'g',
);
const blanks = ' '.repeat(32);

/**
 * The text with blanks in place of line ends and invisible escapes, so that text after an escaped `\n` starts a word. The
 * length is unchanged, so that positions stay valid.
 *
 * @param text the body with one character per byte
 */
export function levelled(text: string): string {
  if (!text.includes('\\') && !text.includes(escapeChar)) return text;
  return text.replace(marks, (mark) => {
    const isLineEnd = mark.endsWith('n') || (mark.endsWith('r') && !mark.includes('['));
    const wide = mark.length - Number(isLineEnd);
    return (wide <= blanks.length ? blanks.slice(0, wide) : ' '.repeat(wide)) + (isLineEnd ? '\n' : '');
  });
}
