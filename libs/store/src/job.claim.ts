import { jobStates } from '@svc/lifecycle';
import { type JobRecord, parseJob } from './job.record';
import { luaJson } from './lua-json';
import type { FollowUp } from './script-batches';
import type { WorkerSlot } from './job.placement';

/** Dispatches waiting jobs to a worker. */
export interface ClaimRequest {
  worker: WorkerSlot;
  /** Lanes that the worker can serve. */
  lanes: readonly string[];
  /** The worker may run the jobs of this tenant only; absent = of all. */
  tenant?: string;
  /** Maximum number of jobs: each takes one of these ids. */
  dispatchIds: readonly string[];
  /** 0 = no limit. */
  licenseCap: number;
  /** Policy snapshot in effect; '' = existing decisions stay in effect. */
  snapshot: string;
  /** Returns also input documents up to this size; 0 or absent = none. */
  inputBytes?: number;
}

/** A job that was dispatched to a worker. */
export type DispatchedJob = JobRecord & { worker_id: string; dispatch_id: string };

export interface Claimed {
  /** The dispatched jobs, as stored. */
  jobs: DispatchedJob[];
  /** Input documents by job; one that is too large or no text is absent. */
  inputs: ReadonlyMap<string, string>;
  /** The claim ended because the worker has no free slot for the next job. */
  isFull: boolean;
}

/** A claim in the same call of Redis as the ends of jobs that free its slots, after them. */
export interface EndClaim {
  /** @param ends number of ends in that call. @returns undefined when there is nothing to claim */
  build(ends: number): ClaimRequest | undefined;
  /** Receives the outcome before the ends resolve. Not called when the claim fails, or its reply is lost. */
  settle(claimed: Claimed): void;
}

/** The claim as `claim-1.lua` expects it. @param retain retention of ended jobs, for the transition */
export const claimDocument = (c: ClaimRequest, retain: object): object => ({
  worker: c.worker,
  lanes: c.lanes,
  dispatch_ids: c.dispatchIds,
  from: jobStates.moves.dispatch.from,
  license_cap: c.licenseCap,
  snapshot: c.snapshot,
  ...(c.tenant !== undefined && { tenant: c.tenant }),
  ...(c.inputBytes && { input_bytes: c.inputBytes }),
  retain,
});

/** Replies are decoded as text. This character, where bytes were not, would change the document. */
const REPLACEMENT = '\ufffd';

/** Parses the reply of `claim-1.lua`: for each job its fields before, and the fields written, as field, value, ..., and its input. */
export function parseClaimed(reply: unknown): Claimed {
  const [stopped, rows] = reply as [stopped: string, rows: [before: string[], written: string[], input?: string][]];
  const inputs = new Map<string, string>();
  const jobs = rows.map(([before, written, input]) => {
    const job = parseJob(toFields([before, written])) as DispatchedJob;
    if (input && !input.includes(REPLACEMENT)) inputs.set(job.id, input);
    return job;
  });
  return { jobs, inputs, isFull: stopped === 'full' };
}

/** Later values replace earlier ones. */
function toFields(lists: readonly (readonly string[])[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const list of lists) {
    for (let i = 0; i + 1 < list.length; i += 2) fields[list[i] ?? ''] = list[i + 1] ?? '';
  }
  return fields;
}

const followUps = new WeakMap<EndClaim, FollowUp>();

/**
 * The claim as a call at the end of a batch; the same one for each end, so that it is sent once.
 *
 * @param lanes key of the lanes
 */
export function toFollowUp(claim: EndClaim, lanes: string, retain: object): FollowUp {
  const known = followUps.get(claim);
  if (known) return known;
  const followUp: FollowUp = {
    name: 'claim',
    build: (ends) => {
      const request = claim.build(ends);
      return request && [lanes, luaJson(claimDocument(request, retain))];
    },
    settle: (reply) => claim.settle(parseClaimed(reply)),
  };
  followUps.set(claim, followUp);
  return followUp;
}
