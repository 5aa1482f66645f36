import type { DecisionRecord, JobRecord, Placed, Placement } from '@svc/store';

/** A job that its decision permits, as the accepting call will store it. */
export interface PermittedJob {
  record: JobRecord;
  /** Its input document, JSON. */
  context: string;
  decision: DecisionRecord;
  /** Effective for its tenant and team. */
  config: Record<string, unknown> | undefined;
}

/** A placement for the accepting call. */
export interface ProposedPlacement {
  place: Placement;
  /** Called once after the call, with the position of the job. Publishes a dispatch in the background. */
  settle(placed: Placed): void;
}

/** Places permitted jobs at submission. Implemented by the feature `dispatch`. See ADR 18. */
export interface NewJobPlacement {
  /** Undefined: the job goes to the queue of undecided jobs. */
  propose(job: PermittedJob): Promise<ProposedPlacement | undefined>;
}
