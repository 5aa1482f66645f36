import type { Store } from '@svc/store';
import type { WorkflowDefinition } from '@svc/workflow';
import { LRUCache } from 'lru-cache';
import type { Clock } from '@svc/platform';
import { parseDefinition } from '../definitions/workflow-view';

const cacheTtlMs = 600_000;
const MAX_DEFINITIONS = 500;

/** Caches definition versions, which are immutable. The planner keys its prepared data by the cached object. */
export class DefinitionCache {
  private readonly cache = new LRUCache<string, { definition: WorkflowDefinition; untilMs: number }>({
    max: MAX_DEFINITIONS,
  });

  constructor(
    private readonly store: Pick<Store, 'workflows'>,
    private readonly clock: Pick<Clock, 'nowMs'>,
  ) {}

  /**
   * @param writtenAt distinguishes the version from a deleted one with the same number
   * @returns undefined when the version no longer exists
   */
  async find(tenant: string, id: string, version: number, writtenAt = 0): Promise<WorkflowDefinition | undefined> {
    const key = JSON.stringify([tenant, id, version, writtenAt]);
    const cached = this.cache.get(key);
    if (cached && cached.untilMs > this.clock.nowMs()) return cached.definition;
    const found = await this.store.workflows.version(tenant, id, version);
    if (found.kind !== 'found') return undefined;
    const definition = parseDefinition(found.value);
    this.cache.set(key, { definition, untilMs: this.clock.nowMs() + cacheTtlMs });
    return definition;
  }
}
