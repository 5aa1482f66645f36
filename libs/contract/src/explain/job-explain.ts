import { jobStates, type JobState } from '@svc/lifecycle';
import Joi from 'joi';
import { agentStatuses, type RiskTier, riskTiers } from '../agents/agent-fields';
import { endpoint } from '../endpoint';
import { jobId, text } from '../fields';
import { shape } from '../shape';
import { time } from '../workflows/workflow-fields';

/** Kinds of rules, settings and components that can block a job or a run. */
export const ownerKinds = [
  'policy_rule', 'request', 'setting', 'license', 'topic', 'pool', 'worker', 'queue', 'service', 'breaker', 'approval',
  'gate', 'step', 'run', 'lock', 'caller', 'limit', 'agent', 'delegation',
] as const; // prettier-ignore

/** The rule, setting or component responsible, and where to change it. */
export interface Owner {
  kind: (typeof ownerKinds)[number];
  id: string;
  value?: string | number | boolean | string[];
}

/** In the order in which a job passes them. */
export const jobBlockers = [
  'queue_paused', 'no_scheduler', 'unattended', 'queue_turn', 'retry_backoff', 'preempted', 'dispatch_failed',
  'scheduling_limit', 'topic_refused', 'agent_refused', 'policy_unavailable', 'throttled', 'approval', 'budget',
  'concurrency_limit', 'rate_limit', 'debounce', 'no_pool', 'pool_closed', 'preferred_pool', 'capability',
  'no_workers', 'workers_draining', 'worker_credential', 'workers_not_ready', 'placement', 'worker_capability', 'workers_full',
  'tenant_suspended', 'tenant_limit', 'license_limit', 'lane_turn', 'dispatch_unconfirmed', 'worker_silent',
] as const; // prettier-ignore
export type JobBlocker = (typeof jobBlockers)[number];

/** The reason a job or run makes no progress. */
export interface Blocker<Kind extends string = string> {
  kind: Kind;
  what: string;
  owner: Owner;
  how: string;
  since?: string;
  clears_at: string | null;
  next_try_at?: string;
}

/** In the order in which a job passes them. */
export const jobChecks = [
  'queue', 'deadline', 'scheduling_limit', 'topic', 'agent', 'policy_service', 'policy', 'approval', 'budget', 'limits', 'pool', 'worker', 'slots',
  'tenant_limit', 'license_limit', 'turn', 'dispatch', 'result',
] as const; // prettier-ignore
export type JobCheck = (typeof jobChecks)[number];

export const checkOutcomes = ['passed', 'blocks', 'would_block', 'not_reached'] as const;

/** One check and its outcome. */
export interface ExplainCheck<Name extends string = string> {
  check: Name;
  outcome: (typeof checkOutcomes)[number];
  detail: string;
  owner?: Owner;
}

/** The timeout that ends it if nothing else does. */
export interface GivesUp {
  at: string;
  as: string;
  owner: Owner;
}

/** How a job or run ended. */
export interface EndedBy {
  at: string | null;
  code: string;
  what: string;
  owner: Owner;
}

/** The worker that holds the job. */
export interface HeldBy {
  worker_id: string;
  pool: string;
  since: string;
  last_sign_of_life: string;
}

export const explainedAgentStatuses = [...agentStatuses, 'unknown'] as const;

/** The agent of a job as it is now. */
export interface ExplainedAgent {
  agent_id: string;
  status: (typeof explainedAgentStatuses)[number];
  name?: string;
  risk_tier?: RiskTier;
  /** Id of the delegation by which it acts. */
  delegation?: string;
  /** Why the job would be refused now. */
  refusal?: { by: 'agent' | 'delegation'; reason: string };
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
  agent?: ExplainedAgent;
}

export const owner = shape<Owner>({
  required: {
    kind: Joi.string<Owner['kind']>().valid(...ownerKinds),
    id: text('Identifier: a rule id, or the name of a setting, variable, pool or worker.'),
  },
  optional: {
    value: Joi.alternatives(Joi.string().allow(''), Joi.number(), Joi.boolean(), Joi.array().items(Joi.string())).description('Current value.'), // prettier-ignore
  },
}).description('The rule, setting or component responsible.');

/** Fields common to all blockers. */
export const blockerFields = {
  required: {
    what: text('Description of the block.'),
    owner,
    how: text('How to resolve it.'),
    clears_at: time('When it resolves by itself; null = unknown.').allow(null),
  },
  optional: {
    since: time('Start of the block.'),
    next_try_at: time('Time of the next retry.'),
  },
};

export const givesUp = shape<GivesUp>({
  required: { at: time('Time of the timeout.'), as: text('The state in which it ends.'), owner },
})
  .allow(null)
  .description('The timeout that ends it if nothing else does; null = none.');

export const endedBy = shape<EndedBy>({
  required: {
    at: time('Time of the end; null = unknown.').allow(null),
    code: text('Error code or another short reason.'),
    what: text('Description of the end.'),
    owner,
  },
});

export const buildCheckSchema = <Name extends string>(names: readonly Name[]) =>
  shape<ExplainCheck<string>>({
    required: {
      check: Joi.string().valid(...names),
      outcome: Joi.string<ExplainCheck['outcome']>()
        .valid(...checkOutcomes)
        .description(
          'passed; blocks = the first check that blocks; would_block = would block next, given the current state; not_reached = not evaluated.',
        ),
      detail: text('Details of the outcome.'),
    },
    optional: { owner },
  }) as unknown as Joi.ObjectSchema<ExplainCheck<Name>>;

/** Why a job is in its state: the first blocker, and every check in order. */
export const explainJob = endpoint({
  id: 'jobs.explain',
  method: 'get',
  path: '/api/v1/jobs/:id/explain',
  summary: 'Why a job does not run, or how it ended',
  description:
    'Checks queue, deadline, topic, agent, policy, approval, pool, workers, limits and turn in the order in which the job passes them. About other tenants it reveals at most that their jobs are ahead.',
  access: { permission: 'jobs.read', roles: 'any' },
  params: { id: jobId },
  answer: {
    status: 200,
    body: shape<JobExplanation>({
      required: {
        job_id: jobId,
        state: Joi.string<JobState>().valid(...jobStates.states),
        summary: text('One-sentence summary.'),
        blocked_by: shape<Blocker<JobBlocker>>({
          required: { kind: Joi.string<JobBlocker>().valid(...jobBlockers), ...blockerFields.required },
          optional: blockerFields.optional,
        })
          .allow(null)
          .description('The first blocker; null when the job is progressing or has ended.'),
        checks: Joi.array().items(buildCheckSchema(jobChecks)),
        gives_up: givesUp,
        explained_at: time('Time of this explanation.'),
      },
      optional: {
        held_by: shape<HeldBy>({
          required: {
            worker_id: text('Worker that holds the job.'),
            pool: text('Pool of the worker.'),
            since: time('Time of the dispatch.'),
            last_sign_of_life: time('Last result, progress or heartbeat of the worker.'),
          },
        }),
        ended_by: endedBy,
        agent: shape<ExplainedAgent>({
          required: {
            agent_id: text('Agent of the job.'),
            status: Joi.string<ExplainedAgent['status']>()
              .valid(...explainedAgentStatuses)
              .description('Its status now; unknown = it is not registered.'),
          },
          optional: {
            name: text('Its name.'),
            risk_tier: Joi.string<RiskTier>()
              .valid(...riskTiers)
              .description('Its risk tier.'),
            delegation: text('Id (jti) of the delegation by which it acts.'),
            refusal: shape<NonNullable<ExplainedAgent['refusal']>>({
              required: {
                by: Joi.string<'agent' | 'delegation'>()
                  .valid('agent', 'delegation')
                  .description('Whether status and scope of the agent refuse the job, or its delegation.'),
                reason: text('Reason of the refusal.'),
              },
            }).description('Present when the job would be refused if it were submitted now.'),
          },
        }).description('The agent of the job; absent without one.'),
      },
    }),
  },
  errors: ['job_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});
