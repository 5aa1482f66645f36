import type { JobBlocker, JobCheck, Owner } from '@svc/contract';
import type { JobFacts } from './job-facts';

/** One blocker of a job, and its expected explanation. */
export interface BlockerCase {
  blocker: JobBlocker;
  name: string;
  facts: JobFacts;
  check: JobCheck;
  owner: Owner;
  clears?: string | null;
  what: RegExp;
}
