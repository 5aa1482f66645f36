import { badAt, type OffsetFault } from './position';

export interface Token {
  kind: 'name' | 'number' | 'string' | 'symbol' | 'end';
  /** As written, quotes and prefix included. */
  text: string;
  start: number;
}

export interface Tokens {
  kind: 'ok';
  /** The last one is `end`. */
  tokens: Token[];
  /** Offset behind the last token: the end of the source, or the place of the `}` that closes a template. */
  end: number;
}

const space = /\s*/y;
const name = /[\p{L}_][\p{L}\p{N}_]*/uy;
const number = /(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)[uU]?/y;
const symbol = /\?\?|\*\*|==|!=|<=|>=|&&|\|\||[-+*/%<>!()[\]{}.,:?#]/y;
const closers: Record<string, string> = { '(': ')', '[': ']', '{': '}' };

/**
 * Splits an expression into tokens and matches its brackets. Linear in the length.
 *
 * @param start where the expression begins; offsets are those of the whole source
 * @param until `end` reads to the end of the source, `brace` to the first `}` that nothing inside opened
 */
export function tokenize(source: string, start: number, until: 'end' | 'brace'): Tokens | OffsetFault {
  const tokens: Token[] = [];
  const open: Token[] = [];
  let at = start;
  for (;;) {
    at += matchAt(space, source, at).length;
    if (at >= source.length) {
      const unclosed = open.at(-1);
      if (unclosed) return badAt(unclosed.start, `\`${unclosed.text}\` is never closed`);
      if (until === 'brace') return badAt(start, 'the template is never closed: `}` is missing');
      break;
    }
    if (until === 'brace' && source[at] === '}' && open.length === 0) break;
    const token = readToken(source, at);
    if (token.kind === 'bad') return token;
    const fault = matchBracket(token, open);
    if (fault) return fault;
    tokens.push(token);
    at += token.text.length;
  }
  tokens.push({ kind: 'end', text: '', start: at });
  return { kind: 'ok', tokens, end: at };
}

function matchBracket(token: Token, open: Token[]): OffsetFault | undefined {
  if (token.kind !== 'symbol') return undefined;
  if (Object.hasOwn(closers, token.text)) {
    open.push(token);
  } else if (token.text === ')' || token.text === ']' || token.text === '}') {
    const opener = open.pop();
    if (!opener) return badAt(token.start, `\`${token.text}\` closes nothing`);
    const wanted = closers[opener.text];
    if (wanted !== token.text) return badAt(token.start, `\`${token.text}\` found where \`${wanted}\` is expected`);
  }
  return undefined;
}

function readToken(source: string, start: number): Token | OffsetFault {
  const word = matchAt(name, source, start);
  const next = source[start + word.length];
  const quoted = next === '"' || next === "'";
  if (quoted && (word === '' || word === 'r' || word === 'R')) return readString(source, start, word);
  if (word) return { kind: 'name', text: word, start };
  const digits = matchAt(number, source, start);
  if (digits) {
    const follower = matchAt(name, source, start + digits.length);
    if (follower) return badAt(start, `\`${digits}${follower}\` is neither a number nor a name`);
    return { kind: 'number', text: digits, start };
  }
  const sign = matchAt(symbol, source, start);
  if (sign) return { kind: 'symbol', text: sign, start };
  return badAt(start, `\`${String.fromCodePoint(source.codePointAt(start) ?? 0)}\` means nothing here`);
}

function readString(source: string, start: number, prefix: string): Token | OffsetFault {
  const open = start + prefix.length;
  const quote = source.charAt(open);
  const mark = source.startsWith(quote.repeat(3), open) ? quote.repeat(3) : quote;
  for (let at = open + mark.length; at < source.length; at += 1) {
    if (source.startsWith(mark, at)) {
      return { kind: 'string', text: source.slice(start, at + mark.length), start };
    }
    if (source[at] === '\\') at += 1;
    else if (mark === quote && (source[at] === '\n' || source[at] === '\r')) break;
  }
  return badAt(start, 'the text is never closed');
}

function matchAt(pattern: RegExp, source: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0] ?? '';
}
