import { badAt, type OffsetFault } from './position';
import type { Token } from './tokens';

/** An expression in CEL. */
export interface CelText {
  kind: 'ok';
  text: string;
  /** Maps an offset of `text` to the author's source. */
  sourceOffset(celOffset: number): number;
}

/** Generated names for operators that CEL lacks; authors cannot write them, see `celName`. */
export const own = {
  item: '__item',
  coalesce: '__coalesce',
  power: '__power',
  contains: '__contains',
  startsWith: '__startsWith',
  endsWith: '__endsWith',
  matches: '__matches',
  notIn: '__notIn',
} as const;

/** Reserved or invalid as names in CEL; `loop` is one of our names. */
const celReserved = new Set([
  'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import', 'let', 'loop', 'package', 'namespace',
  'return', 'var', 'void', 'while', 'prototype',
]); // prettier-ignore
const celWords = new Set(['true', 'false', 'null', 'in']);
const namePrefix = '__n_';
const celName = (name: string) => (celReserved.has(name) || name.startsWith('__') ? namePrefix + name : name);
/** The name the author wrote. */
export const authorName = (name: string) => (name.startsWith(namePrefix) ? name.slice(namePrefix.length) : name);

const wordOperators: Record<string, string> = { and: '&&', or: '||', in: 'in' };
const textOperators: Record<string, string> = {
  contains: own.contains,
  startsWith: own.startsWith,
  endsWith: own.endsWith,
  matches: own.matches,
};

/** Operator precedence. Operators that CEL lacks become calls, closed after their operand. */
const level = { none: 0, text: 1, arithmetic: 2, power: 3, coalesce: 4 } as const;
type Level = (typeof level)[keyof typeof level];

interface Frame {
  bracket: string;
  /** Calls opened for operators inside this bracket and not closed yet. */
  held: Level[];
}

/**
 * Writes the older spellings as CEL: `and`, `or`, `not`, `nil`, `#`, `a not in b`, `a contains b` and its like as
 * `a in __contains(b)`, `a ?? b` and `a ** b` as method calls, which bind as tightly as they must. Names and keys that CEL
 * would reject are escaped. Works on tokens, so string contents are never changed.
 */
export function toCel(tokens: readonly Token[]): CelText | OffsetFault {
  const writer = new Writer();
  const frames: Frame[] = [{ bracket: '', held: [] }];
  let afterOperand = false;
  let owesOperand = false;
  for (let i = 0; i < tokens.length; i += 1) {
    const token = tokens[i] ?? endToken;
    const next = tokens[i + 1] ?? endToken;
    const frame = frames.at(-1) ?? { bracket: '', held: [] };
    if (owesOperand && !startsOperand(token)) return badAt(token.start, unexpected(token));
    owesOperand = false;
    if (token.kind === 'end') break;

    if (token.text === '.' && next.kind === 'name') {
      i += 1;
      const isCall = tokens[i + 1]?.text === '(';
      writer.write(isCall ? `.${celName(next.text)}` : memberText(next.text), next.start);
      afterOperand = true;
    } else if (token.kind === 'name' && isBareKey(token, tokens[i - 1], next, frame)) {
      writer.write(JSON.stringify(token.text), token.start);
      afterOperand = true;
    } else if (afterOperand && isOperator(token, next)) {
      const held = writeOperator(writer, token);
      if (token.text === 'not') i += 1;
      if (held !== level.none) frame.held.push(held);
      owesOperand = held !== level.none;
      afterOperand = false;
    } else if (token.kind === 'name') {
      if (Object.hasOwn(wordOperators, token.text)) return badAt(token.start, unexpected(token));
      if (!/^[A-Za-z0-9_]+$/.test(token.text))
        return badAt(token.start, `\`${token.text}\` is no name: letters are a to z`);
      writer.write(nameText(token.text), token.start);
      afterOperand = token.text !== 'not';
    } else {
      writer.write(token.text === '#' ? own.item : token.text, token.start);
      if (token.kind === 'symbol' && '([{'.includes(token.text)) frames.push({ bracket: token.text, held: [] });
      else if (token.kind === 'symbol' && ')]}'.includes(token.text)) frames.pop();
      afterOperand = token.kind !== 'symbol' || ')]}#'.includes(token.text);
    }
    if (afterOperand) closeHeld(writer, frames.at(-1), tokens[i + 1] ?? endToken);
  }
  return writer.finish(tokens.at(-1)?.start ?? 0);
}

const endToken: Token = { kind: 'end', text: '', start: 0 };

/** For the author, without grammar terms. */
export const unexpected = (token: Token): string =>
  token.kind === 'end' ? 'the expression ends too early' : `\`${token.text}\` is not expected here`;

const startsOperand = ({ kind, text }: Token) => (kind === 'symbol' ? '-!([{#'.includes(text) : kind !== 'end');

const isBareKey = ({ kind }: Token, before: Token | undefined, next: Token, frame: Frame) =>
  kind === 'name' && frame.bracket === '{' && next.text === ':' && (before?.text === '{' || before?.text === ',');

function isOperator({ kind, text }: Token, next: Token): boolean {
  if (kind === 'symbol') return text === '??' || text === '**';
  if (kind !== 'name') return false;
  if (text === 'not') return next.kind === 'name' && next.text === 'in';
  return Object.hasOwn(wordOperators, text) || Object.hasOwn(textOperators, text);
}

/** @returns the level of the call it opened, or `none` */
function writeOperator(writer: Writer, { text, start }: Token): Level {
  const word = wordOperators[text];
  if (word) {
    writer.write(word, start);
    return level.none;
  }
  if (text === '??' || text === '**') {
    writer.write(`.${text === '??' ? own.coalesce : own.power}(`, start);
    return text === '??' ? level.coalesce : level.power;
  }
  writer.write(`in ${text === 'not' ? own.notIn : textOperators[text]}(`, start);
  return level.text;
}

/** `??` groups from the left and binds tightest, then `**` from the right; text operators take sums as operands. */
function closeHeld(writer: Writer, frame: Frame | undefined, next: Token): void {
  if (!frame || (next.kind === 'symbol' && '.[('.includes(next.text))) return;
  const nextLevel = getLevel(next);
  for (let top = frame.held.at(-1); top !== undefined; top = frame.held.at(-1)) {
    const isOver = nextLevel < top || (nextLevel === top && top === level.coalesce);
    if (!isOver) return;
    frame.held.pop();
    writer.write(')', next.start);
  }
}

function getLevel({ kind, text }: Token): Level {
  if (kind !== 'symbol') return level.none;
  if (text === '??') return level.coalesce;
  if (text === '**') return level.power;
  return '+-*/%'.includes(text) ? level.arithmetic : level.none;
}

const memberText = (name: string) =>
  celWords.has(name) || !/^[A-Za-z0-9_]+$/.test(name) ? `[${JSON.stringify(name)}]` : `.${name}`;

function nameText(name: string): string {
  if (name === 'not') return '!';
  if (name === 'nil') return 'null';
  return celName(name);
}

/** Joins the pieces with spaces, so that no two merge, and records where each came from. */
class Writer {
  private text = '';
  private readonly pieces: { at: number; source: number }[] = [];

  write(piece: string, source: number): void {
    this.pieces.push({ at: this.text.length, source });
    this.text += `${piece} `;
  }

  finish(sourceEnd: number): CelText {
    const { text, pieces } = this;
    const sourceOffset = (celOffset: number) =>
      celOffset >= text.trimEnd().length ? sourceEnd : (pieces.findLast(({ at }) => at <= celOffset)?.source ?? 0);
    return { kind: 'ok', text, sourceOffset };
  }
}
