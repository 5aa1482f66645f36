import { readYamlDocument, type Parsed } from '@svc/contract';
import type { PoolStatus } from '@svc/lifecycle';
import Joi from 'joi';

export interface Pool {
  name: string;
  requires: string[];
  status: PoolStatus;
  description: string;
  drain_started_at?: string;
  drain_timeout_seconds?: number;
}

/** Which pools serve which topics, in order of preference. See docs/reference/routing.md#pools. */
export interface PoolTable {
  topics: Readonly<Record<string, readonly string[]>>;
  pools: Readonly<Record<string, Pool>>;
}

interface PoolsDocument {
  topics: Record<string, string | string[]>;
  pools?: Record<string, Partial<Pool> | null>;
}

const poolNameSyntax = /^[a-z0-9](?!.*--)[a-z0-9-]{1,61}[a-z0-9]$/;
const topicPatternSyntax = /^job(\.[A-Za-z0-9_-]+|\.\*)*(\.>)?$/;

/** Whether a text can name a pool. */
export const isPoolName = (text: string): boolean => poolNameSyntax.test(text);
/** Whether a text can be a topic, or a pattern of topics, of the pools table. */
export const isTopicPattern = (text: string): boolean => topicPatternSyntax.test(text);

const poolName = Joi.string().pattern(poolNameSyntax).messages({
  'string.pattern.base': 'a pool name has 3 to 63 of a-z, 0-9 and single -, and begins and ends with a letter or digit',
});
const topicPattern = Joi.string().pattern(topicPatternSyntax).messages({
  'string.pattern.base': 'a topic begins with job. and has tokens of A-Z, a-z, 0-9, _ and -, or * and a last >',
});
const pool = Joi.object({
  requires: Joi.array().items(Joi.string().trim().min(1)),
  status: Joi.valid('active', 'draining', 'inactive'),
  description: Joi.string().allow(''),
  drain_started_at: Joi.string().isoDate(),
  drain_timeout_seconds: Joi.number().integer().min(1).max(3600),
}).allow(null);

const document = Joi.object<PoolsDocument>({
  topics: Joi.object()
    .pattern(topicPattern, Joi.alternatives(poolName, Joi.array().items(poolName).min(1)))
    .required(),
  pools: Joi.object().pattern(poolName, pool),
});

/**
 * Reads the pools file.
 *
 * @param strict a topic that names a pool which is not defined is an error (production); otherwise it is an empty pool
 */
export function parsePools(text: string, source: string, strict: boolean): Parsed<PoolTable> {
  const read = readYamlDocument<PoolsDocument>(text, source, document);
  if (!read.ok) return read;
  const topics = Object.fromEntries(Object.entries(read.value.topics).map(([topic, pools]) => [topic, [pools].flat()]));
  const defined = read.value.pools ?? {};
  const named = new Set([...Object.keys(defined), ...Object.values(topics).flat()]);
  const unknown = [...named].filter((name) => !Object.hasOwn(defined, name));
  if (strict && unknown.length > 0) {
    const problems = unknown.map((name) => ({
      source,
      line: 0,
      column: 0,
      path: 'topics',
      message: `pool ${name} is used by a topic and not defined under pools`,
    }));
    return { ok: false, problems };
  }
  const pools = Object.fromEntries(
    [...named].map((name) => [
      name,
      { name, requires: [], status: 'active' as const, description: '', ...(defined[name] ?? {}) },
    ]),
  );
  return { ok: true, value: { topics, pools } };
}

/** Converts a table to its file format; parsing that yields the same table. */
export const toPoolsDocument = ({ topics, pools }: PoolTable): Record<string, unknown> => ({
  topics,
  pools: Object.fromEntries(Object.entries(pools).map(([key, { name: _, ...fields }]) => [key, fields])),
});
