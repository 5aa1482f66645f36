/** A run of backslashes is tried from each of them: none may look far. Escaped ends of lines and tabs, in texts within texts too, and the colours of a terminal. */
const escapeChar = String.fromCharCode(0x1b);
const marks = new RegExp(
  `\\\\{1,8}[nrt]|(?:\\\\{1,8}(?:u001[bB]|x1[bB]|e|033)|${escapeChar})\\[[0-9;]{0,16}[A-Za-z]`,
  'g',
);
const blanks = ' '.repeat(32);

/**
 * The text with blanks for what a reader sees as the end of a line or not at all: what begins behind an escaped `\n`
 * begins a word. It is as long as the text, so that places stay what they are.
 *
 * @param text the body with one character a byte
 */
export function levelled(text: string): string {
  if (!text.includes('\\') && !text.includes(escapeChar)) return text;
  return text.replace(marks, (mark) => {
    const isLineEnd = mark.endsWith('n') || (mark.endsWith('r') && !mark.includes('['));
    const wide = mark.length - Number(isLineEnd);
    return (wide <= blanks.length ? blanks.slice(0, wide) : ' '.repeat(wide)) + (isLineEnd ? '\n' : '');
  });
}
