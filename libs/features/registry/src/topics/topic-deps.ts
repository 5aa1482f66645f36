import type { Store } from '@svc/store';
import { type EffectiveConfig, section } from '@svc/settings';
import { SchemaCache } from '../schemas/schema-cache';
import { TopicRegistry } from './topic-registry';
import type { DocumentDeps } from './topics-document';

export type SchemaEnforcement = 'off' | 'warn' | 'enforce';

/** A document that does not match its topic's schema, for logs and metrics. */
export interface SchemaMismatch {
  topic: string;
  tenant: string;
  what: 'input' | 'output';
  schemaId: string;
  /** Tenant of the registration that names the schema; absent = the installation's. */
  schemaOwner?: string | undefined;
  /** Absent at the gateway, where a rejected job has none. */
  jobId?: string;
  message: string;
  refused: boolean;
}

export interface TopicEvents {
  deprecatedTopic(topic: string, tenant: string): void;
  schemaMismatch(mismatch: SchemaMismatch): void;
  /** Entries of system/topics that could not be read. */
  topicFaults(keys: readonly string[]): void;
}

/** Dependencies of the checks of topics and schemas, in the gateway and the scheduler. */
export interface TopicDeps {
  registry: TopicRegistry;
  schemas: SchemaCache;
  events: TopicEvents;
  enforcement(): Promise<SchemaEnforcement>;
}

export interface TopicParts extends DocumentDeps {
  store: Store;
  config: EffectiveConfig;
  events: TopicEvents;
  /** SCHEMA_ENFORCEMENT; undefined = not set. */
  enforcement: SchemaEnforcement | undefined;
}

/** Opens the registry and the schema cache; a config change empties both. */
export function openTopics(parts: TopicParts): TopicDeps {
  const { store, clock, config, events, enforcement } = parts;
  const registry = new TopicRegistry(parts, (keys) => events.topicFaults(keys), config.keepMs);
  const schemas = new SchemaCache(store, clock, config.keepMs);
  config.onChange(() => {
    registry.changed();
    schemas.changed();
  });
  return { registry, schemas, events, enforcement: async () => enforcement ?? configured(config) };
}

/** The environment wins when set, else system/default; the default is to warn. */
async function configured(config: EffectiveConfig): Promise<SchemaEnforcement> {
  const system = await config.at({ tenant: '' });
  const { schema_enforcement: mode } = section(system, 'boundary_hardening', { schema_enforcement: 'warn' });
  return mode === 'off' || mode === 'enforce' ? mode : 'warn';
}
