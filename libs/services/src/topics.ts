import { AppError } from '@svc/contract';
import { bestMatch, type PoolTable } from '@svc/routing';

/**
 * Is a topic known? The registry is filled from the pools file; with no topic in it every topic is accepted. Core
 * contract 2.2 checks 4 and 5, 6.3.
 */
export const isKnownTopic = (table: PoolTable, topic: string): boolean =>
  Object.keys(table.topics).length === 0 || bestMatch(table.topics, topic) !== undefined;

const shown = 20;

/** @throws unknown_topic, with the topics there are */
export function requireKnownTopic(table: PoolTable, topic: string): void {
  if (isKnownTopic(table, topic)) return;
  const topics = Object.keys(table.topics).sort();
  throw new AppError('unknown_topic', {
    error_code: 'unknown_topic',
    registered_topics: topics.slice(0, shown),
    truncated: topics.length > shown,
    topics_endpoint: '/api/v1/topics',
  });
}
