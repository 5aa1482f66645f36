import { AppError, topicNamePattern, type Caller } from '@svc/contract';
import { isTopicPattern, type PoolTable } from '@svc/routing';
import { changePools, findPool, poolFault, type PoolWriteDeps, requirePoolWriter } from './change-pools';

/**
 * Maps a topic to a pool, as its last choice. A no-op when it is mapped to it already.
 *
 * @throws tenant_access_denied, pool_invalid_config, pool_not_found, pool_version_conflict
 */
export async function mapTopic(deps: PoolWriteDeps, caller: Caller, name: string, topic: string): Promise<void> {
  requirePoolWriter(deps, caller, name);
  if (!topicNamePattern.test(topic) || !isTopicPattern(topic))
    throw poolFault('topic', 'must be job. and tokens of letters, digits, _ and - joined by dots, or * for a token');
  await changePools(deps, (table) => {
    findPool(table, name);
    const pools = getPools(table, topic);
    if (pools.includes(name)) return undefined;
    return { ...table, topics: { ...table.topics, [topic]: [...pools, name] } };
  });
}

/**
 * Removes a topic from a pool; a topic without pools is removed.
 *
 * @throws tenant_access_denied, pool_invalid_config, pool_not_found, topic_not_found, pool_version_conflict
 */
export async function unmapTopic(deps: PoolWriteDeps, caller: Caller, name: string, topic: string): Promise<void> {
  requirePoolWriter(deps, caller, name);
  await changePools(deps, (table) => {
    findPool(table, name);
    if (!getPools(table, topic).includes(name)) throw new AppError('topic_not_found');
    return withPools(
      table,
      topic,
      getPools(table, topic).filter((pool) => pool !== name),
    );
  });
}

const getPools = ({ topics }: PoolTable, topic: string): readonly string[] =>
  Object.hasOwn(topics, topic) ? (topics[topic] ?? []) : [];

/** The table with the pools of one topic replaced; without pools the topic is removed. */
export const withPools = (table: PoolTable, topic: string, pools: readonly string[]): PoolTable => ({
  ...table,
  topics: Object.fromEntries([
    ...Object.entries(table.topics).filter(([name]) => name !== topic),
    ...(pools.length > 0 ? [[topic, pools] as const] : []),
  ]),
});
