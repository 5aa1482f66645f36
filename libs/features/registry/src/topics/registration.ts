import { topicStatuses, type TopicFields } from '@svc/contract';
import type { PoolTable } from '@svc/routing';

/** An entry of the topic registry; without a tenant it applies to all. See docs/reference/routing.md#topics. */
export interface TopicRegistration extends TopicFields {
  tenant_id?: string;
}

/** How entries are keyed in the config document system/topics. No topic holds a colon. */
export const entryKey = ({ name, tenant_id: tenant }: Pick<TopicRegistration, 'name' | 'tenant_id'>): string =>
  tenant ? `tenant:${tenant}:${name}` : name;

const tenantKey = /^tenant:(.+):([^:]+)$/;

/** The entries of the document. The config routes write it too, so an entry may have any shape: `faults` are those left out. */
export function readEntries(data: Readonly<Record<string, unknown>>): {
  entries: TopicRegistration[];
  faults: string[];
} {
  const entries: TopicRegistration[] = [];
  const faults: string[] = [];
  for (const [key, value] of Object.entries(data)) {
    const entry = readEntry(key, value);
    if (entry) entries.push(entry);
    else faults.push(key);
  }
  return { entries, faults };
}

function readEntry(key: string, value: unknown): TopicRegistration | undefined {
  if (value === null || typeof value !== 'object') return undefined;
  const fields: Readonly<Record<string, unknown>> = { ...value };
  const status = topicStatuses.find((known) => known === (fields['status'] ?? 'active'));
  // An entry that cannot be read must not open a topic that was meant to be closed.
  if (!status) return undefined;
  const [, tenant, name = key] = tenantKey.exec(key) ?? [];
  return {
    name,
    ...(tenant && { tenant_id: tenant }),
    pool: typeof fields['pool'] === 'string' ? fields['pool'] : '',
    requires: words(fields['requires']),
    risk_tags: words(fields['risk_tags']),
    status,
    ...pickOptionalTexts(fields),
  };
}

const optionalTexts = ['input_schema_id', 'output_schema_id', 'pack_id', 'capability', 'risk_tag_deriver'] as const;
type OptionalText = (typeof optionalTexts)[number];

/** The optional fields of an entry that are non-empty texts. */
export const pickOptionalTexts = (
  fields: Readonly<Partial<Record<OptionalText, unknown>>>,
): Partial<Record<OptionalText, string>> =>
  Object.fromEntries(
    optionalTexts.flatMap((field) => {
      const text = fields[field];
      return typeof text === 'string' && text !== '' ? [[field, text]] : [];
    }),
  );

const words = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((word): word is string => typeof word === 'string') : [];

/** Trimmed, deduplicated, sorted. */
export const tidy = (list: readonly string[]): string[] =>
  [...new Set(list.map((word) => word.trim()).filter((word) => word !== ''))].sort();

/** The initial content of the registry: an entry for each topic of the pools file. */
export const buildEntries = (table: PoolTable): Record<string, TopicRegistration> =>
  Object.fromEntries(
    Object.entries(table.topics).map(([name, [pool = '']]) => [
      name,
      { name, pool, requires: [...(table.pools[pool]?.requires ?? [])], risk_tags: [], status: 'active' },
    ]),
  );
