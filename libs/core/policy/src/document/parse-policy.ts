import { yamlStructureFaults, yamlTextFault, type Problem } from '@svc/contract';
import { isRecord } from '@svc/json';
import { isAlias, isMap, isSeq, LineCounter, parseDocument, type Document, type Node } from 'yaml';
import { crossChecks, type Fault } from './cross-checks';
import type { PolicyDocument } from './policy-document';
import { documentSchema } from './schema';
import { messages } from './schema-parts';

/** Allows a handful of shared lists; more would let a small file expand into a large one. */
const maxAliasExpansions = 50;

/** Bounds the time: each problem's position costs a walk through the document. */
const MAX_PROBLEMS = 100;

/** Duplicate keys are found separately: the library compares each key with each. */
export const readAs = { schema: 'core', logLevel: 'error', uniqueKeys: false } as const;

export type ParsedPolicy = { ok: true; document: PolicyDocument } | { ok: false; problems: Problem[] };

export interface ParseOptions {
  /** Bundle id, or file name: appears in problems and decides the search order of the rules. */
  source: string;
  /** `write` rejects an unknown decision; `load` reads it as deny, so that stored policies fail closed. */
  mode: 'write' | 'load';
}

/**
 * Parses and validates one YAML policy document and returns all problems, up to 100, with line and column.
 * The caller caps the length of `text`. See docs/reference/policy.md#documents.
 */
export function parsePolicy(text: string, { source, mode }: ParseOptions): ParsedPolicy {
  const lines = new LineCounter();
  const dear = yamlTextFault(text);
  if (dear) return { ok: false, problems: [{ source, line: 1, column: 1, path: '', message: dear.message }] };
  const yaml = parseDocument(text, { ...readAs, lineCounter: lines, prettyErrors: false });
  const problem = (offset: number, path: string, message: string): Problem => {
    const { line, col } = lines.linePos(Math.min(Math.max(offset, 0), text.length));
    return { source, line: Math.max(line, 1), column: Math.max(col, 1), path, message };
  };

  const broken = [...yaml.errors, ...yaml.warnings].map((e) => problem(e.pos[0], '', sentence(e.code, e.message)));
  if (broken.length > 0) return { ok: false, problems: broken };
  const unsound = yamlStructureFaults(yaml);
  if (unsound.length > 0)
    return { ok: false, problems: unsound.map(({ offset, message }) => problem(offset, '', message)) };

  const value = plainValue(yaml);
  if (value.kind === 'aliases') return { ok: false, problems: [problem(0, '', value.message)] };
  if (!isRecord(value.value)) {
    const empty = value.value === null || value.value === undefined;
    const message = empty ? 'the document is empty: write at least a version and rules' : 'the document must be a map';
    return { ok: false, problems: [problem(0, '', message)] };
  }

  const validated = documentSchema.validate(value.value, {
    abortEarly: false,
    convert: false,
    context: { mode },
    messages,
    errors: { label: false },
  });
  const faults: Fault[] = [
    ...(validated.error?.details ?? []).map(({ path, message, type }): Fault => {
      return { path, message, ...(type === 'object.unknown' && { at: 'key' as const }) };
    }),
    ...crossChecks(value.value, mode),
  ];
  if (validated.error || faults.length > 0) {
    const problems = faults
      .slice(0, MAX_PROBLEMS)
      .map((fault) => problem(findOffset(yaml, fault), pathText(fault.path), fault.message));
    return { ok: false, problems: problems.sort((a, b) => a.line - b.line || a.column - b.column) };
  }
  return { ok: true, document: { source, ...validated.value } };
}

type PlainValue = { kind: 'value'; value: unknown } | { kind: 'aliases'; message: string };

function plainValue(yaml: Document): PlainValue {
  try {
    return { kind: 'value', value: yaml.toJS({ maxAliasCount: maxAliasExpansions }) };
  } catch (error) {
    const detail = error instanceof Error ? error.message : 'an alias cannot be resolved';
    const message = detail.startsWith('Excessive alias')
      ? `anchors are expanded more than ${maxAliasExpansions} times: write the values out`
      : detail;
    return { kind: 'aliases', message };
  }
}

function sentence(code: string, message: string): string {
  if (code === 'MULTIPLE_DOCS') return 'a second document starts here: a policy is one document, so remove the `---`';
  return `not valid YAML: ${message}`;
}

const pathText = (path: Fault['path']): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? part : `${text}.${part}`;
  }, '');

/** Position of a path in the text; for a missing key, that of its nearest parent. */
function findOffset(yaml: Document, { path, at }: Fault): number {
  let node: unknown = yaml.contents;
  let offset = getStart(node) ?? 0;
  for (const [index, part] of path.entries()) {
    if (isAlias(node)) node = node.resolve(yaml);
    if (isSeq(node) && typeof part === 'number') {
      node = node.items[part];
      offset = getStart(node) ?? offset;
      continue;
    }
    const pair = isMap(node) ? node.items.find(({ key }) => keyText(key) === String(part)) : undefined;
    if (!pair) return offset;
    const keyAt = getStart(pair.key) ?? offset;
    const meansKey = at === 'key' && index === path.length - 1;
    node = pair.value;
    offset = meansKey ? keyAt : (getStart(node) ?? keyAt);
  }
  return offset;
}

const hasRange = (node: unknown): node is Node => isRecord(node) && Array.isArray(node['range']);
const getStart = (node: unknown): number | undefined => (hasRange(node) ? node.range?.[0] : undefined);
const keyText = (key: unknown): string => (isRecord(key) && 'value' in key ? String(key['value']) : String(key));
