import { Environment, ParseError, type ASTNode } from '@marcbachmann/cel-js';
import { badAt, type OffsetFault } from './position';
import { toCel, unexpected, type CelText } from './to-cel';
import type { Token } from './tokens';

/** Only its parser is used; the length of the source bounds the rest. */
const cel = new Environment({
  limits: { maxAstNodes: 20_000, maxDepth: 200, maxListElements: 5_000, maxMapEntries: 5_000 },
});

export interface ParsedCel {
  kind: 'ok';
  ast: ASTNode;
  text: CelText;
}

/** Parses the generated CEL; faults refer to the author's tokens. */
export function parseCel(tokens: readonly Token[]): ParsedCel | OffsetFault {
  if (tokens.length <= 1) return badAt(tokens[0]?.start ?? 0, 'the expression is empty');
  const text = toCel(tokens);
  if (text.kind === 'bad') return text;
  try {
    return { kind: 'ok', ast: cel.parse(text.text).ast, text };
  } catch (error) {
    if (error instanceof ParseError) return celFault(error, tokens, text);
    // The parser is recursive; reachable only with a length limit far above the default.
    if (error instanceof RangeError) return badAt(tokens[0]?.start ?? 0, tooDeep);
    throw error;
  }
}

export const tooDeep = 'the expression is nested too deeply';

function celFault({ code, summary, range }: ParseError, tokens: readonly Token[], text: CelText): OffsetFault {
  const offset = text.sourceOffset(range?.start ?? 0);
  if (code === 'limit_exceeded')
    return badAt(offset, summary.includes('maxDepth') ? tooDeep : 'the expression is too large');
  const token = tokens.find(({ start }) => start === offset);
  const isGrammar = code === 'unexpected_token' || code === 'expected_token' || code === 'unexpected_character';
  return badAt(
    offset,
    token && (isGrammar || code === 'reserved_identifier') ? unexpected(token) : lowerFirst(summary),
  );
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);
