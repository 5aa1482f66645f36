import { isAlias, isCollection, isPair, type Document } from 'yaml';

/** Deeper than any of our files; the reader's own limit depends on how much stack is left. */
const maxDepth = 64;

/**
 * What makes a document dangerous to turn into values, or undefined: nesting, and keys that are lists or maps. The reader
 * writes such a key out as text, and keys within keys cost it time without bound: 800 of them, 2 KB, take minutes.
 *
 * @returns the offset of the fault in the text, and how to mend it
 */
export function yamlStructureFault({ contents }: Document): { offset: number; message: string } | undefined {
  // By hand and not by recursion: what is looked for is what overflows a stack.
  const left: { node: unknown; depth: number; offset: number }[] = [{ node: contents, depth: 0, offset: 0 }];
  for (let next = left.pop(); next; next = left.pop()) {
    const { node, depth } = next;
    if (isPair(node)) {
      const offset = offsetOf(node.key, next.offset);
      if (isCollection(node.key)) return { offset, message: 'a key is a list or a map: write plain text' };
      if (isAlias(node.key)) return { offset, message: 'a key is an alias: write it out' };
      left.push({ node: node.value, depth, offset });
    } else if (isCollection(node)) {
      const offset = offsetOf(node, next.offset);
      if (depth === maxDepth) return { offset, message: `nested deeper than ${maxDepth} levels` };
      left.push(...node.items.map((item: unknown) => ({ node: item, depth: depth + 1, offset })));
    }
  }
  return undefined;
}

const offsetOf = (node: unknown, around: number): number =>
  (node as { range?: readonly number[] | null } | null)?.range?.[0] ?? around;
