import { isAlias, isCollection, isMap, isPair, isScalar, type Document, type YAMLMap } from 'yaml';

/** A structural problem, found before the content is validated. */
export interface YamlFault {
  /** Position in the text. */
  offset: number;
  message: string;
}

/** Deeper than any of our files; the parser's own limit depends on the remaining stack. */
const maxDepth = 64;
const tooDeep = `nested deeper than ${maxDepth} levels`;
/** Allows for brackets in plain text, which rarely open this much more often than they close. */
const MAX_OPEN = 1_000;
/** `- - - …` and `? ? ? …`, each of which is a level. */
const deepLine = /(?:[-?] ){200}/;
const MAX_FAULTS = 100;
/** This key would set the prototype of the parsed object and so bypass validation. */
const reachesPrototype = 'a key may not be called __proto__';

/**
 * Reason a text is too expensive to parse, or undefined. The parser allocates hundreds of bytes per nesting level and
 * descends through all of them before it fails, so call this before parsing.
 */
export function yamlTextFault(text: string): YamlFault | undefined {
  let open = 0;
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    if (char === '[' || char === '{') open += 1;
    else if ((char === ']' || char === '}') && open > 0) open -= 1;
    if (open > MAX_OPEN) return { offset: i, message: tooDeep };
  }
  const line = deepLine.exec(text);
  return line ? { offset: line.index, message: tooDeep } : undefined;
}

/**
 * Finds structures that are dangerous or ambiguous to convert to values: deep nesting, keys that are lists or maps, and
 * duplicate keys. The parser serializes keys, and nested keys take unbounded time: 800 of them, 2 KB, take minutes. Its own
 * check for duplicate keys is quadratic, 20 s for 50,000 keys: disable it (`uniqueKeys: false`) and call this instead.
 *
 * @returns faults in text order, at most 100; a dangerous structure is returned alone
 */
export function yamlStructureFaults({ contents }: Document): readonly YamlFault[] {
  const doubles: YamlFault[] = [];
  // Iterative, since the nesting it detects would overflow the stack of a recursive walk.
  const left: { node: unknown; depth: number; offset: number }[] = [{ node: contents, depth: 0, offset: 0 }];
  for (let next = left.pop(); next; next = left.pop()) {
    const { node, depth } = next;
    if (isPair(node)) {
      const offset = getOffset(node.key, next.offset);
      if (isCollection(node.key)) return [{ offset, message: 'a key is a list or a map: write plain text' }];
      if (isAlias(node.key)) return [{ offset, message: 'a key is an alias: write it out' }];
      if (isScalar(node.key) && node.key.value === '__proto__') return [{ offset, message: reachesPrototype }];
      left.push({ node: node.value, depth, offset });
    } else if (isCollection(node)) {
      const offset = getOffset(node, next.offset);
      if (depth === maxDepth) return [{ offset, message: tooDeep }];
      if (isMap(node)) doubles.push(...doubleKeys(node, offset));
      for (const item of node.items) left.push({ node: item, depth: depth + 1, offset });
    }
  }
  return doubles.sort((a, b) => a.offset - b.offset).slice(0, MAX_FAULTS);
}

function doubleKeys({ items }: YAMLMap, around: number): YamlFault[] {
  const seen = new Set<unknown>();
  return items.flatMap(({ key }) => {
    const value: unknown = isScalar(key) ? key.value : key;
    const isDouble = seen.has(value);
    seen.add(value);
    const message = 'this key is written twice in one map: keep one of them';
    return isDouble ? [{ offset: getOffset(key, around), message }] : [];
  });
}

const getOffset = (node: unknown, around: number): number =>
  (node as { range?: readonly number[] | null } | null)?.range?.[0] ?? around;
