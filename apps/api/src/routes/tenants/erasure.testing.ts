import { findKeyName } from '@svc/store';
import type { Api } from '../../api.testing';
import type { Planted } from '../../tenant-belongings.testing';

/** Every key with its content as text. */
export async function readAll({ store: { redis } }: Api): Promise<Map<string, string>> {
  const reads: Record<string, (key: string) => Promise<unknown>> = {
    hash: async (key) => Object.entries(await redis.hgetall(key)).sort(),
    list: (key) => redis.lrange(key, 0, -1),
    set: async (key) => (await redis.smembers(key)).sort(),
    zset: (key) => redis.zrange(key, '0', '-1'),
    stream: (key) => redis.xrange(key, '-', '+'),
    string: (key) => redis.get(key),
  };
  const found = new Map<string, string>();
  for await (const batch of redis.scanStream({ count: 1_000 })) {
    const read = async (key: string) => found.set(key, JSON.stringify(await reads[await redis.type(key)]?.(key)) ?? '');
    await Promise.all((batch as string[]).map(read));
  }
  return found;
}

/** The proof of what happened is kept; other records of the installation do not change with the tenant. */
const keptKinds =
  /^(audit|tenant$|tenantsVersion|legalHolds|policySnapshots|bundleSnapshot|policyAuditCalls$|configHistory$|instance$)/;

/** Keys that still belong to the deleted tenant acme. */
export function findLeft(all: ReadonlyMap<string, string>, planted: Planted): string[] {
  const texts = [...planted.canaries.map(({ text }) => text), planted.done, planted.run, planted.agent];
  const left = [...all].filter(
    ([key, content]) =>
      !keptKinds.test(findKeyName(key) ?? '') &&
      (/[:{]acme(?:[:}]|$)/.test(key) || texts.some((text) => key.includes(text) || content.includes(text))),
  );
  return left.map(([key]) => key);
}
