import { isAlias, isCollection, isMap, isPair, isScalar, type Document, type YAMLMap } from 'yaml';

/** What is wrong with a document before anybody looks at what it says. */
export interface YamlFault {
  /** Where in the text. */
  offset: number;
  message: string;
}

/** Deeper than any of our files; the reader's own limit depends on how much stack is left. */
const maxDepth = 64;
const tooDeep = `nested deeper than ${maxDepth} levels`;
/** A text may well hold brackets that are none of its structure, but hardly so many more that open than close. */
const mostOpen = 1_000;
/** `- - - …` and `? ? ? …`, each of which is a level. */
const deepLine = /(?:[-?] ){200}/;
const mostTold = 100;
/** Read into an object, it would give that object fields which nobody checks. */
const reachesPrototype = 'a key may not be called __proto__';

/**
 * What makes a text too dear to parse, or undefined: the parser takes hundreds of bytes for each level it goes down, and
 * goes down all of them before it gives up. Look here before parsing.
 */
export function yamlTextFault(text: string): YamlFault | undefined {
  let open = 0;
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    if (char === '[' || char === '{') open += 1;
    else if ((char === ']' || char === '}') && open > 0) open -= 1;
    if (open > mostOpen) return { offset: i, message: tooDeep };
  }
  const line = deepLine.exec(text);
  return line ? { offset: line.index, message: tooDeep } : undefined;
}

/**
 * What makes a document dangerous or unclear to turn into values: nesting, keys that are lists or maps, and keys that a map
 * has twice. The reader writes a key out as text, and keys within keys cost it time without bound: 800 of them, 2 KB, take
 * minutes. Its own look for equal keys compares each with each, which for 50,000 keys takes 20 s: have it left out
 * (`uniqueKeys: false`) and ask here.
 *
 * @returns faults in the order of the text, at most 100; one that is dangerous stands alone
 */
export function yamlStructureFaults({ contents }: Document): readonly YamlFault[] {
  const doubles: YamlFault[] = [];
  // By hand and not by recursion: what is looked for is what overflows a stack.
  const left: { node: unknown; depth: number; offset: number }[] = [{ node: contents, depth: 0, offset: 0 }];
  for (let next = left.pop(); next; next = left.pop()) {
    const { node, depth } = next;
    if (isPair(node)) {
      const offset = offsetOf(node.key, next.offset);
      if (isCollection(node.key)) return [{ offset, message: 'a key is a list or a map: write plain text' }];
      if (isAlias(node.key)) return [{ offset, message: 'a key is an alias: write it out' }];
      if (isScalar(node.key) && node.key.value === '__proto__') return [{ offset, message: reachesPrototype }];
      left.push({ node: node.value, depth, offset });
    } else if (isCollection(node)) {
      const offset = offsetOf(node, next.offset);
      if (depth === maxDepth) return [{ offset, message: tooDeep }];
      if (isMap(node)) doubles.push(...doubleKeys(node, offset));
      for (const item of node.items) left.push({ node: item, depth: depth + 1, offset });
    }
  }
  return doubles.sort((a, b) => a.offset - b.offset).slice(0, mostTold);
}

function doubleKeys({ items }: YAMLMap, around: number): YamlFault[] {
  const seen = new Set<unknown>();
  return items.flatMap(({ key }) => {
    const value: unknown = isScalar(key) ? key.value : key;
    const isDouble = seen.has(value);
    seen.add(value);
    const message = 'this key is written twice in one map: keep one of them';
    return isDouble ? [{ offset: offsetOf(key, around), message }] : [];
  });
}

const offsetOf = (node: unknown, around: number): number =>
  (node as { range?: readonly number[] | null } | null)?.range?.[0] ?? around;
