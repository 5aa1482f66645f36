import { nodeHash, type ReadSubtree } from '@svc/audit-chain';
import { HASH_BYTES, TILE_SIZE, type AuditRepository } from '@svc/store';

/** Root of hashes that follow each other; their number is a power of two. */
export function rootOfLeaves(hashes: Buffer): Buffer {
  let level = Array.from({ length: hashes.length / HASH_BYTES }, (_, i) =>
    hashes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES),
  );
  while (level.length > 1) {
    level = Array.from({ length: level.length / 2 }, (_, i) => nodeHash(at(level, 2 * i), at(level, 2 * i + 1)));
  }
  return at(level, 0);
}

function at(hashes: readonly Buffer[], index: number): Buffer {
  const hash = hashes[index];
  if (hash?.length !== HASH_BYTES)
    throw new Error('the Merkle tree of this audit chain lacks leaves: verify the chain');
  return hash;
}

/**
 * Reads subtrees of the Merkle tree of a chain. What was read is kept, so use one for one proof or checkpoint.
 *
 * @throws Error when leaves are missing
 */
export function openTree(store: Pick<AuditRepository, 'leaves' | 'tileRoots'>, tenant: string): ReadSubtree {
  const tiles = new Map<number, Promise<Buffer>>();
  let roots: Promise<Buffer> | undefined;
  const readLeaves = (tile: number) => {
    const known = tiles.get(tile) ?? store.leaves(tenant, tile);
    tiles.set(tile, known);
    return known;
  };
  return async (start, size) => {
    const [hashes, first] =
      size < TILE_SIZE
        ? [await readLeaves(Math.floor(start / TILE_SIZE)), start % TILE_SIZE]
        : [await (roots ??= store.tileRoots(tenant)), start / TILE_SIZE];
    const count = size < TILE_SIZE ? size : size / TILE_SIZE;
    const part = hashes.subarray(first * HASH_BYTES, (first + count) * HASH_BYTES);
    if (part.length !== count * HASH_BYTES)
      throw new Error('the Merkle tree of this audit chain lacks leaves: verify the chain');
    return rootOfLeaves(part);
  };
}
