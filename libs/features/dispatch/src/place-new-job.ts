import { isGate } from '@svc/contract';
import type { NewJobPlacement, PermittedJob, ProposedPlacement } from '@svc/jobs';
import { type BoundarySettings, type EffectiveConfig, routingRules } from '@svc/settings';
import { policyPart, toConfigScope } from '@svc/decision';
import { planDispatch, type PlanDeps } from './plan-dispatch';

export interface PlacementEvents {
  /** A job was placed by its first decision. */
  received(topic: string): void;
  waiting(topic: string, reason: string): void;
}

export interface PlacementDeps extends PlanDeps {
  config: Pick<EffectiveConfig, 'at' | 'budgetsAt'>;
  settings: BoundarySettings;
  events: PlacementEvents;
}

/**
 * Proposes where the accepting call puts a job that policy permits. Jobs that need more than that call does go to the queue
 * of undecided jobs: approval gates, jobs with a budget, and critical jobs, for which the scheduler may preempt others.
 * See docs/adr/0017-dispatch-at-submission.md.
 */
export const openPlacement = (deps: PlacementDeps): NewJobPlacement => ({
  async propose({ record, decision, config }: PermittedJob): Promise<ProposedPlacement | undefined> {
    if (isGate(record.topic) || record.request.priority === 'critical') return undefined;
    if (await deps.config.budgetsAt(toConfigScope(record))) return undefined;
    const rules = await routingRules(deps);
    const { plan } = planDispatch(deps, record, { rules, config, constraints: decision.constraints });
    const { worker: _, ...waiting } = plan;
    return {
      place: { ...waiting, snapshot: policyPart(decision.policy_snapshot ?? ''), otherLanes: [], mayWait: true },
      settle: (placed) => {
        if (placed.kind === 'queued') return;
        deps.events.received(record.topic);
        if (placed.kind === 'waiting') deps.events.waiting(record.topic, placed.reason);
      },
    };
  },
});
