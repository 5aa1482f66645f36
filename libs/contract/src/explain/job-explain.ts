import { jobStates, type JobState } from '@svc/lifecycle';
import Joi from 'joi';
import { endpoint } from '../endpoint';
import { jobId, text } from '../fields';
import { shape } from '../shape';
import { time } from '../workflows/workflow-fields';

/** What may own a rule or setting that keeps something from running. */
export const ownerKinds = [
  'policy_rule', 'request', 'setting', 'license', 'topic', 'pool', 'worker', 'queue', 'service', 'breaker', 'approval',
  'gate', 'step', 'run', 'lock', 'caller', 'limit',
] as const; // prettier-ignore

/** Who or what decides about it: the place to change something, or to ask. */
export interface Owner {
  kind: (typeof ownerKinds)[number];
  id: string;
  value?: string | number | boolean | string[];
}

/** In the order in which a job meets them. */
export const jobBlockers = [
  'queue_paused', 'no_scheduler', 'unattended', 'queue_turn', 'retry_backoff', 'preempted', 'dispatch_failed',
  'scheduling_limit', 'topic_refused', 'policy_unavailable', 'throttled', 'approval', 'budget',
  'no_pool', 'pool_closed', 'preferred_pool', 'capability',
  'no_workers', 'workers_draining', 'workers_not_ready', 'placement', 'worker_capability', 'workers_full',
  'tenant_limit', 'license_limit', 'lane_turn', 'dispatch_unconfirmed', 'worker_silent',
] as const; // prettier-ignore
export type JobBlocker = (typeof jobBlockers)[number];

/** What keeps a job or a run from going on. */
export interface Blocker<Kind extends string = string> {
  kind: Kind;
  what: string;
  owner: Owner;
  how: string;
  since?: string;
  clears_at: string | null;
  next_try_at?: string;
}

/** In the order in which a job meets them. */
export const jobChecks = [
  'queue', 'deadline', 'scheduling_limit', 'topic', 'policy_service', 'policy', 'approval', 'budget', 'pool', 'worker', 'slots',
  'tenant_limit', 'license_limit', 'turn', 'dispatch', 'result',
] as const; // prettier-ignore
export type JobCheck = (typeof jobChecks)[number];

export const checkOutcomes = ['passed', 'blocks', 'would_block', 'not_reached'] as const;

/** One thing that was looked at, and what it came to. */
export interface ExplainCheck<Name extends string = string> {
  check: Name;
  outcome: (typeof checkOutcomes)[number];
  detail: string;
  owner?: Owner;
}

/** What ends it should nothing else happen. */
export interface GivesUp {
  at: string;
  as: string;
  owner: Owner;
}

/** How something that is over came to its end. */
export interface EndedBy {
  at: string | null;
  code: string;
  what: string;
  owner: Owner;
}

/** The worker that has it. */
export interface HeldBy {
  worker_id: string;
  pool: string;
  since: string;
  last_sign_of_life: string;
}

export interface JobExplanation {
  job_id: string;
  state: JobState;
  summary: string;
  blocked_by: Blocker<JobBlocker> | null;
  checks: ExplainCheck<JobCheck>[];
  gives_up: GivesUp | null;
  explained_at: string;
  held_by?: HeldBy;
  ended_by?: EndedBy;
}

export const owner = shape<Owner>({
  required: {
    kind: Joi.string<Owner['kind']>().valid(...ownerKinds),
    id: text('Which one: a rule id, the name of a setting or variable, of a pool, of a worker.'),
  },
  optional: {
    value: Joi.alternatives(Joi.string().allow(''), Joi.number(), Joi.boolean(), Joi.array().items(Joi.string())).description('What it is set to.'), // prettier-ignore
  },
}).description('The rule or setting that decides about it.');

/** Fields that every blocker has, for shapes that add their own. */
export const blockerFields = {
  required: {
    what: text('What keeps it, in words.'),
    owner,
    how: text('What makes it go on.'),
    clears_at: time('When it goes on by itself; null when nobody can know.').allow(null),
  },
  optional: {
    since: time('Since when.'),
    next_try_at: time('When it is looked at again, whether or not it can go on then.'),
  },
};

export const givesUp = shape<GivesUp>({
  required: { at: time('When.'), as: text('The state it then ends in.'), owner },
})
  .allow(null)
  .description('What ends it should nothing else happen; null = nothing does.');

export const endedBy = shape<EndedBy>({
  required: {
    at: time('When; null when it is not known.').allow(null),
    code: text('In a word, such as the error code.'),
    what: text('In words.'),
    owner,
  },
});

export const checkOf = <Name extends string>(names: readonly Name[]) =>
  shape<ExplainCheck<string>>({
    required: {
      check: Joi.string().valid(...names),
      outcome: Joi.string<ExplainCheck['outcome']>()
        .valid(...checkOutcomes)
        .description(
          'passed; blocks = the first that holds it; would_block = it would be held by this next, as things stand now; not_reached = it cannot be told yet.',
        ),
      detail: text('What was found.'),
    },
    optional: { owner },
  }) as unknown as Joi.ObjectSchema<ExplainCheck<Name>>;

/** Why a job is where it is: the first thing that blocks it, and every check in the order in which it meets them. */
export const explainJob = endpoint({
  id: 'jobs.explain',
  method: 'get',
  path: '/api/v1/jobs/:id/explain',
  summary: 'Why a job does not run, or how it ended',
  description:
    'Walks queue, deadline, topic, policy, approval, pool, workers, limits and turn as the job meets them. Of other tenants it says at most that they are before it.',
  access: { permission: 'jobs.read', roles: 'any' },
  params: { id: jobId },
  answer: {
    status: 200,
    body: shape<JobExplanation>({
      required: {
        job_id: jobId,
        state: Joi.string<JobState>().valid(...jobStates.states),
        summary: text('In one sentence.'),
        blocked_by: shape<Blocker<JobBlocker>>({
          required: { kind: Joi.string<JobBlocker>().valid(...jobBlockers), ...blockerFields.required },
          optional: blockerFields.optional,
        })
          .allow(null)
          .description('The first thing that blocks it; null when it goes on or is over.'),
        checks: Joi.array().items(checkOf(jobChecks)),
        gives_up: givesUp,
        explained_at: time('As of when this holds.'),
      },
      optional: {
        held_by: shape<HeldBy>({
          required: {
            worker_id: text('The worker that has it.'),
            pool: text('Its pool.'),
            since: time('Since when.'),
            last_sign_of_life: time('Of the worker about this job, or of the worker itself.'),
          },
        }),
        ended_by: endedBy,
      },
    }),
  },
  errors: ['job_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});
