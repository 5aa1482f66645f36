import { NotReady } from '@svc/runtime';
import type { Redis } from 'ioredis';
import { parseMemory, parseInfo, type RedisFacts } from './redis-facts';

/** Codes of store findings; also label values of the metric. */
export const storeFindings = [
  'version',
  'append_only',
  'fsync',
  'fsync_everysec',
  'fsync_on_rewrite',
  'eviction',
  'min_replicas',
  'no_memory_limit',
  'untold',
  'data_lost',
] as const;
export type StoreFindingCode = (typeof storeFindings)[number];

/** A configuration or data problem of the store, reported to operators. */
export interface StoreFinding {
  code: StoreFindingCode;
  /** `refuse`: accepted work may be lost, so production does not start. */
  severity: 'refuse' | 'warn';
  what: string;
  /** Corrective action. */
  fix: string;
}

export interface GuardRequirements {
  /** Minimum replicas that must receive writes; 0 = none required. */
  minReplicas: number;
  /** Memory limit of admission control when Redis has none; 0 = none. */
  memoryLimitBytes: number;
}

const oldestVersion = [7, 0] as const;

/** Checks whether a Redis keeps acknowledged writes. docs/durability.md explains the consequence of each finding. */
export function checkRedis(facts: RedisFacts, { minReplicas, memoryLimitBytes }: GuardRequirements): StoreFinding[] {
  const { version, appendOnly, fsync, unsyncedRewrite, evictionPolicy, maxMemoryBytes, minReplicasToWrite } = facts;
  const found: (StoreFinding | false)[] = [
    version !== undefined &&
      isOlder(version) &&
      refuse('version', `Redis ${version} is too old`, 'Run Redis 7.0 or later.'),
    appendOnly === false &&
      refuse('append_only', 'Redis has no append-only file: a restart loses jobs', 'Set appendonly yes.'),
    fsync !== undefined &&
      fsync !== 'always' &&
      fsync !== 'everysec' &&
      refuse(
        'fsync',
        `appendfsync is ${fsync}: a power failure loses writes that the operating system has not flushed`,
        fsyncAction,
      ),
    fsync === 'everysec' &&
      warn('fsync_everysec', 'appendfsync is everysec: a power failure may lose the last two seconds', fsyncAction),
    unsyncedRewrite === true &&
      warn(
        'fsync_on_rewrite',
        'writes are not synced while the append-only file is rewritten: a power failure may lose them',
        'Set no-appendfsync-on-rewrite no.',
      ),
    evictionPolicy !== undefined &&
      evictionPolicy !== 'noeviction' &&
      refuse(
        'eviction',
        `maxmemory-policy is ${evictionPolicy}: Redis evicts jobs when memory is full`,
        'Set maxmemory-policy noeviction.',
      ),
    minReplicasToWrite !== undefined &&
      minReplicasToWrite < minReplicas &&
      refuse(
        'min_replicas',
        `min-replicas-to-write is ${minReplicasToWrite} and SVC_REDIS_MIN_REPLICAS is ${minReplicas}: a failover may lose jobs`,
        `Set min-replicas-to-write ${minReplicas}, or lower SVC_REDIS_MIN_REPLICAS.`,
      ),
    maxMemoryBytes === 0 &&
      memoryLimitBytes === 0 &&
      warn(
        'no_memory_limit',
        'maxmemory is 0: submissions are not rejected before memory runs out',
        'Set maxmemory, or SVC_REDIS_MEMORY_LIMIT.',
      ),
    unreportedSettings(facts, minReplicas),
  ];
  return found.filter((finding) => finding !== false);
}

const fsyncAction = 'Set appendfsync always.';
const refuse = (code: StoreFindingCode, what: string, fix: string) =>
  ({ code, severity: 'refuse', what, fix }) as const;
const warn = (code: StoreFindingCode, what: string, fix: string) => ({ code, severity: 'warn', what, fix }) as const;

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < oldestVersion[0] || (major === oldestVersion[0] && minor < oldestVersion[1]);
}

function unreportedSettings(facts: RedisFacts, minReplicas: number): StoreFinding | false {
  const missing = [
    facts.version === undefined && 'its version',
    facts.appendOnly === undefined && 'appendonly',
    facts.fsync === undefined && 'appendfsync',
    facts.evictionPolicy === undefined && 'maxmemory-policy',
    facts.maxMemoryBytes === undefined && 'maxmemory',
    minReplicas > 0 && facts.minReplicasToWrite === undefined && 'min-replicas-to-write',
  ].filter((name) => name !== false);
  if (missing.length === 0) return false;
  return warn(
    'untold',
    `Redis does not report ${missing.join(', ')}`,
    'Permit CONFIG GET, or check the settings with the provider; docs/durability.md lists the requirements.',
  );
}

/**
 * Readiness check: whether Redis accepts writes. A reachable Redis can reject them: memory full, disk full, a replica.
 *
 * @throws NotReady with the reason; client errors when Redis is unreachable
 */
export async function requireWritable(redis: Redis, minReplicas: number): Promise<void> {
  const replies = (await redis.pipeline().ping().info('memory').info('replication').exec()) ?? [];
  const [, memory, replication] = replies.map(([error, reply]) => {
    if (error) throw toRefusal(error) ?? error;
    return String(reply);
  });
  const { usedBytes, maxBytes } = parseMemory(memory ?? '');
  if (maxBytes > 0 && usedBytes > maxBytes) throw new NotReady('refuses writes: its memory is full');
  const roles = parseInfo(replication ?? '');
  if (roles.get('role') === 'slave') throw new NotReady('refuses writes: it is a replica');
  if (minReplicas > 0 && Number(roles.get('min_slaves_good_slaves') ?? minReplicas) < minReplicas) {
    throw new NotReady('refuses writes: too few replicas keep up');
  }
}

const refusals: readonly (readonly [start: string, publicText: string])[] = [
  ['MISCONF', 'refuses writes: it cannot save to its disk'],
  ['LOADING', 'is reading its data'],
];

const toRefusal = (error: Error): NotReady | undefined => {
  const known = refusals.find(([start]) => error.message.startsWith(start));
  return known && new NotReady(known[1]);
};
