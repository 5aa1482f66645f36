import type { ApprovalGroup, ChainState, DecisionVerdict } from '@svc/contract';
import type { Base } from '@svc/platform';
import type { PolicyReadDeps } from '@svc/policy-admin';
import type { TopicDeps } from '@svc/registry';
import type { Store } from '@svc/store';
import type { CachedReads } from './cached-reads';
import type { DecisionLog } from './decision-log';

/** Reports queries for metrics; durations in seconds. */
export interface GovernanceEvents {
  decisionsQueried(verdict: DecisionVerdict | 'any', seconds: number): void;
  approvalsQueried(groupBy: ApprovalGroup, isCached: boolean, seconds: number): void;
}

export interface GovernanceDeps extends Omit<PolicyReadDeps, 'store' | 'clock'> {
  store: PolicyReadDeps['store'] & Pick<Store, 'index' | 'jobs' | 'redis' | 'keys'>;
  clock: Base['clock'] & PolicyReadDeps['clock'];
  decisionLog: DecisionLog;
  topics: Pick<TopicDeps, 'registry'>;
  /** State of the audit chain of a tenant. */
  chainState(tenant: string): Promise<ChainState>;
  cache: CachedReads;
  events: GovernanceEvents;
}
