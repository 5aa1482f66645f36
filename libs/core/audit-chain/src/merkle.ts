import { hash } from 'node:crypto';

/*
 * The Merkle tree of RFC 6962: its leaves are the event hashes of a chain, in order. A signed root and the size of its tree
 * commit to every event before it; an inclusion proof shows one event in it, and a consistency proof that a later tree only
 * added events.
 */

const NODE = Buffer.from([1]);
const digest = (...parts: Buffer[]): Buffer => hash('sha256', Buffer.concat(parts), 'buffer');

/** The root of the tree without leaves. */
export const emptyRoot = digest();

/** A leaf is hashed behind a zero, a node behind a one. Used for one hash at a time. */
const leaf = Buffer.alloc(33);

/** @param eventHash hex */
export function leafHash(eventHash: string): Buffer {
  leaf.write(eventHash, 1, 'hex');
  return hash('sha256', leaf, 'buffer');
}

export const nodeHash = (left: Buffer, right: Buffer): Buffer => digest(NODE, left, right);

/**
 * Hashes of complete subtrees, which proofs are made of.
 *
 * @param start first leaf, a multiple of `size`
 * @param size a power of two
 */
export type ReadSubtree = (start: number, size: number) => Promise<Buffer>;

/** The largest power of two below `size`. */
function split(size: number): number {
  let half = 1;
  while (half * 2 < size) half *= 2;
  return half;
}

/** For sizes below 2^31. */
const isPowerOfTwo = (size: number) => (size & (size - 1)) === 0;

/** Root of the leaves from `start` on. */
async function rangeRoot(read: ReadSubtree, start: number, size: number): Promise<Buffer> {
  if (size === 0) return emptyRoot;
  if (isPowerOfTwo(size)) return read(start, size);
  const half = split(size);
  const [left, right] = await Promise.all([read(start, half), rangeRoot(read, start + half, size - half)]);
  return nodeHash(left, right);
}

/** Root of the first `size` leaves. */
export const treeRoot = (read: ReadSubtree, size: number): Promise<Buffer> => rangeRoot(read, 0, size);

/**
 * The audit path of a leaf, from the leaf upwards.
 *
 * @param index from 0
 * @throws RangeError when the leaf is not in the tree
 */
export async function inclusionProof(read: ReadSubtree, index: number, size: number): Promise<Buffer[]> {
  if (index < 0 || index >= size) throw new RangeError(`leaf ${index} is not in a tree of ${size}`);
  const path = async (start: number, count: number): Promise<Buffer[]> => {
    if (count === 1) return [];
    const half = split(count);
    return index < start + half
      ? [...(await path(start, half)), await rangeRoot(read, start + half, count - half)]
      : [...(await path(start + half, count - half)), await rangeRoot(read, start, half)];
  };
  return path(0, size);
}

/**
 * The proof that a tree is the beginning of a later one.
 *
 * @throws RangeError unless 0 < `first` <= `second`
 */
export async function consistencyProof(read: ReadSubtree, first: number, second: number): Promise<Buffer[]> {
  if (first <= 0 || first > second) throw new RangeError(`a tree of ${first} is not the beginning of one of ${second}`);
  const prove = async (start: number, m: number, count: number, isWhole: boolean): Promise<Buffer[]> => {
    if (m === count) return isWhole ? [] : [await rangeRoot(read, start, count)];
    const half = split(count);
    return m <= half
      ? [...(await prove(start, m, half, isWhole)), await rangeRoot(read, start + half, count - half)]
      : [...(await prove(start + half, m - half, count - half, false)), await rangeRoot(read, start, half)];
  };
  return prove(0, first, second, true);
}

/** Whether the path leads from the leaf to the root. */
export function isIncluded(
  leaf: Buffer,
  { index, size, path, root }: { index: number; size: number; path: readonly Buffer[]; root: Buffer },
): boolean {
  if (index < 0 || index >= size) return false;
  let [node, at, last] = [leaf, index, size - 1];
  for (const sibling of path) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      node = nodeHash(sibling, node);
      while (at % 2 === 0 && at !== 0) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
    } else node = nodeHash(node, sibling);
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 && node.equals(root);
}

/** Whether the proof leads from the first tree to the second. */
export function isConsistent(
  first: { size: number; root: Buffer },
  second: { size: number; root: Buffer },
  proof: readonly Buffer[],
): boolean {
  if (first.size === second.size) return proof.length === 0 && first.root.equals(second.root);
  if (first.size <= 0 || first.size > second.size) return false;
  const path = isPowerOfTwo(first.size) ? [first.root, ...proof] : [...proof];
  let [at, last] = [first.size - 1, second.size - 1];
  while (at % 2 === 1) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  const [start, ...rest] = path;
  if (!start) return false;
  let [older, newer] = [start, start];
  for (const sibling of rest) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      older = nodeHash(sibling, older);
      newer = nodeHash(sibling, newer);
      while (at % 2 === 0 && at !== 0) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
    } else newer = nodeHash(newer, sibling);
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 && older.equals(first.root) && newer.equals(second.root);
}
