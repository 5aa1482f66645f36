import type Joi from 'joi';
import { isNode, LineCounter, parseDocument, type Document } from 'yaml';
import { yamlStructureFaults, yamlTextFault, type YamlFault } from './yaml-structure';

/** A problem in a file and its position. */
export interface Problem {
  source: string;
  /** From 1; 0 if the problem has no position in the text. */
  line: number;
  column: number;
  /** Dotted, such as `rules.2.match.topics`; '' for the whole document. */
  path: string;
  message: string;
}

export type Parsed<T> = { ok: true; value: T } | { ok: false; problems: Problem[] };

const maxAliases = 50;
/** Bounds the work: locating each problem traverses the whole document. */
const MAX_PROBLEMS = 100;

/**
 * Reads a YAML (or JSON) file against a schema and names every fault with its line. The caller caps the bytes.
 *
 * @param source the name shown in messages, usually the path
 */
export function readYamlDocument<T>(text: string, source: string, schema: Joi.Schema<T>): Parsed<T> {
  const lines = new LineCounter();
  const tooExpensive = yamlTextFault(text);
  if (tooExpensive)
    return {
      ok: false,
      problems: [{ source, ...toPosition(text, tooExpensive), path: '', message: tooExpensive.message }],
    };
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const at = (offset: number | undefined) => {
    const { line, col } = offset === undefined ? { line: 0, col: 0 } : lines.linePos(offset);
    return { line, column: col };
  };
  const broken = document.errors.map(({ pos, message }) => ({ source, ...at(pos[0]), path: '', message }));
  if (broken.length > 0) return { ok: false, problems: broken };
  const faults = yamlStructureFaults(document);
  if (faults.length > 0) {
    return { ok: false, problems: faults.map(({ offset, message }) => ({ source, ...at(offset), path: '', message })) };
  }

  let plain: unknown;
  try {
    plain = document.toJS({ maxAliasCount: maxAliases });
  } catch {
    return {
      ok: false,
      problems: [{ source, line: 0, column: 0, path: '', message: 'too many aliases (anchors) in one file' }],
    };
  }
  const { error, value } = schema.validate(plain ?? {}, {
    abortEarly: false,
    convert: false,
    errors: { label: 'key' },
  });
  if (!error) return { ok: true, value: value as T };
  const problems = error.details.slice(0, MAX_PROBLEMS).map(({ path, message }) => ({
    source,
    ...at(findOffset(document, path)),
    path: path.join('.'),
    message,
  }));
  return { ok: false, problems };
}

const toPosition = (text: string, { offset }: YamlFault): { line: number; column: number } => {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
};

/** The offset of the node at a path, or of its nearest existing parent. */
function findOffset(document: Document, path: readonly (string | number)[]): number | undefined {
  for (let length = path.length; length >= 0; length--) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return undefined;
}

export const printProblem = ({ source, line, column, path, message }: Problem): string =>
  `${source}${line > 0 ? `:${line}:${column}` : ''}${path ? ` ${path}` : ''}: ${message}`;
