import type { Store } from '@svc/store';
import { type EffectiveConfig, section } from '@svc/settings';
import { SchemaBook } from '../schemas/schema-book';
import { TopicRegistry } from './topic-registry';
import type { DocumentDeps } from './topics-document';

export type SchemaEnforcement = 'off' | 'warn' | 'enforce';

/** A document that does not fit its topic's schema, for logs and metrics. */
export interface SchemaMismatch {
  topic: string;
  tenant: string;
  what: 'input' | 'output';
  schemaId: string;
  /** Tenant of the registration that names the schema; absent = the installation's. */
  schemaOwner?: string | undefined;
  /** Absent at the gateway, where a refused job has none. */
  jobId?: string;
  message: string;
  refused: boolean;
}

export interface TopicEvents {
  deprecatedTopic(topic: string, tenant: string): void;
  schemaMismatch(mismatch: SchemaMismatch): void;
  /** Entries of system/topics that could not be understood. */
  topicFaults(keys: readonly string[]): void;
}

/** What checks of topics and their schemas share, at the gateway as in the scheduler. */
export interface TopicDeps {
  registry: TopicRegistry;
  schemas: SchemaBook;
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

/** Opens the registry and the schemas; both forget what they read when config changes. */
export function openTopics(parts: TopicParts): TopicDeps {
  const { store, clock, config, events, enforcement } = parts;
  const registry = new TopicRegistry(parts, (keys) => events.topicFaults(keys), config.keepMs);
  const schemas = new SchemaBook(store, clock, config.keepMs);
  config.onChange(() => {
    registry.changed();
    schemas.changed();
  });
  return { registry, schemas, events, enforcement: async () => enforcement ?? configured(config) };
}

/** The environment wins when set; else system/default says, else it is only warned. */
async function configured(config: EffectiveConfig): Promise<SchemaEnforcement> {
  const system = await config.at({ tenant: '' });
  const { schema_enforcement: mode } = section(system, 'boundary_hardening', { schema_enforcement: 'warn' });
  return mode === 'off' || mode === 'enforce' ? mode : 'warn';
}
