import fc from 'fast-check';
import { createHash } from 'node:crypto';
import {
  consistencyProof,
  emptyRoot,
  inclusionProof,
  isConsistent,
  isIncluded,
  nodeHash,
  treeRoot,
  type ReadSubtree,
} from './merkle';

const sha256 = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
const hashLeaf = (data: Buffer) => sha256(Buffer.from([0]), data);

/** The entries and roots that implementations of RFC 6962 test with. */
const entries = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const roots = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

const buildTree =
  (leaves: readonly Buffer[]): ReadSubtree =>
  (start, size) => {
    let level = leaves.slice(start, start + size);
    while (level.length > 1)
      level = level.flatMap((left, i) => (i % 2 === 0 ? [nodeHash(left, level[i + 1] ?? Buffer.alloc(0))] : []));
    return Promise.resolve(level[0] ?? Buffer.alloc(0));
  };
const leaves = (count: number) => Array.from({ length: count }, (_, i) => hashLeaf(Buffer.from(`event ${i}`)));

describe('the Merkle tree', () => {
  it('has the roots that other implementations have', async () => {
    const tree = buildTree(entries.map((entry) => hashLeaf(Buffer.from(entry, 'hex'))));

    const found = await Promise.all(roots.map((_, i) => treeRoot(tree, i + 1)));
    expect(found.map((root) => root.toString('hex'))).toEqual(roots);
  });

  it('without leaves has the hash of nothing as its root', async () => {
    expect(await treeRoot(buildTree([]), 0)).toEqual(emptyRoot);
    expect(emptyRoot).toEqual(sha256());
  });

  it('proves every leaf of trees of every size, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 130 }), fc.nat(), async (size, pick) => {
        const all = leaves(size);
        const index = pick % size;
        const tree = buildTree(all);
        const [root, path] = [await treeRoot(tree, size), await inclusionProof(tree, index, size)];
        const leaf = all[index] ?? emptyRoot;
        const proof = { index, size, path, root };

        expect(isIncluded(leaf, proof)).toBe(true);
        expect(isIncluded(hashLeaf(Buffer.from('another')), proof)).toBe(false);
        expect(isIncluded(leaf, { ...proof, root: emptyRoot })).toBe(false);
        if (size > 1) expect(isIncluded(leaf, { ...proof, index: (index + 1) % size })).toBe(false);
        if (path.length > 0) expect(isIncluded(leaf, { ...proof, path: path.slice(1) })).toBe(false);
        expect(isIncluded(leaf, { ...proof, path: [...path, root] })).toBe(false);
      }),
    );
  });

  it('proves that a tree is the beginning of a later one, and not of a changed one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 130 }), fc.nat(), fc.nat(), async (size, cut, change) => {
        const first = (cut % size) + 1;
        const all = leaves(size);
        const tree = buildTree(all);
        const older = { size: first, root: await treeRoot(tree, first) };
        const newer = { size, root: await treeRoot(tree, size) };
        const proof = await consistencyProof(tree, first, size);

        expect(isConsistent(older, newer, proof)).toBe(true);
        const changed = buildTree(
          all.map((leaf, i) => (i === change % first ? hashLeaf(Buffer.from('changed')) : leaf)),
        );
        const rewritten = { size, root: await treeRoot(changed, size) };
        expect(isConsistent(older, rewritten, await consistencyProof(changed, first, size))).toBe(false);
        if (proof.length > 0) expect(isConsistent(older, newer, proof.slice(0, -1))).toBe(false);
      }),
    );
  });

  it.each([
    [3, 3],
    [-1, 3],
  ])('has no proof of the leaf %d of %d', async (index, size) => {
    await expect(inclusionProof(buildTree(leaves(3)), index, size)).rejects.toThrow(RangeError);
  });

  it.each([
    [0, 3],
    [4, 3],
  ])('has no proof that %d leaves begin %d', async (first, second) => {
    await expect(consistencyProof(buildTree(leaves(4)), first, second)).rejects.toThrow(RangeError);
  });
});
