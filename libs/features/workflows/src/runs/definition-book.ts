import type { Store } from '@svc/store';
import type { WorkflowDefinition } from '@svc/workflow';
import { LRUCache } from 'lru-cache';
import type { Clock } from '@svc/platform';
import { definitionOf } from '../definitions/workflow-view';

const keptMs = 600_000;
const MAX_DEFINITIONS = 500;

/**
 * Versions of definitions, which never change: each is one object as long as it is remembered, since the planner keeps by it
 * what it prepared.
 */
export class DefinitionBook {
  private readonly kept = new LRUCache<string, { definition: WorkflowDefinition; untilMs: number }>({
    max: MAX_DEFINITIONS,
  });

  constructor(
    private readonly store: Pick<Store, 'workflows'>,
    private readonly clock: Pick<Clock, 'nowMs'>,
  ) {}

  /**
   * @param writtenAt when the version was written, which tells it from one of the same number that was deleted before
   * @returns undefined when the version is no more
   */
  async find(tenant: string, id: string, version: number, writtenAt = 0): Promise<WorkflowDefinition | undefined> {
    const key = JSON.stringify([tenant, id, version, writtenAt]);
    const kept = this.kept.get(key);
    if (kept && kept.untilMs > this.clock.nowMs()) return kept.definition;
    const found = await this.store.workflows.version(tenant, id, version);
    if (found.kind !== 'found') return undefined;
    const definition = definitionOf(found.value);
    this.kept.set(key, { definition, untilMs: this.clock.nowMs() + keptMs });
    return definition;
  }
}
