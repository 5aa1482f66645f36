import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, cursor, jobId, micros, pageLimit, text, trimmed } from '../fields';
import { limits } from '../limits';
import type { Access } from '../permissions';
import { shape } from '../shape';

/** A side effect of a job, in the ledger. See docs/reference/effects.md. */
export interface EffectView {
  id: string;
  key: string;
  state: 'begun' | 'done' | 'unknown' | 'happened' | 'not_happened' | 'retry';
  job_id: string;
  attempt: number;
  worker_id: string;
  begun_at: number;
  updated_at: number;
  ended_at?: number;
  result?: unknown;
  settled_at?: number;
  settled_by?: string;
  settled_role?: string;
  reason?: string;
}

const read: Access = { permission: 'jobs.read', roles: ['admin', 'operator', 'user', 'viewer'] };
const settle: Access = { permission: 'jobs.approve', also: ['jobs.write'], roles: ['admin', 'operator'] };
const effectId = Joi.string().max(64).description('Id of the effect.');

const effectView = shape<EffectView>({
  required: {
    id: effectId,
    key: text('Name that the worker gave it.'),
    state: Joi.string<'begun' | 'done' | 'unknown' | 'happened' | 'not_happened' | 'retry'>()
      .valid('begun', 'done', 'unknown', 'happened', 'not_happened', 'retry')
      .description('State; see docs/states.md.'),
    job_id: jobId,
    attempt: count('Attempt of the job that began it.'),
    worker_id: text('Worker that began it.'),
    begun_at: micros('Time of its intent.'),
    updated_at: micros('Time of its last change.'),
  },
  optional: {
    ended_at: micros('Time at which the worker reported its end.'),
    result: Joi.any().description('Result that the worker or the operator recorded.'),
    settled_at: micros('Time of the settlement.'),
    settled_by: text('Who settled it.'),
    settled_role: text('Role of that person.').allow(''),
    reason: text('Reason of the settlement.'),
  },
});

export interface EffectQuery {
  limit: number;
  state?: 'unknown' | 'happened' | 'not_happened' | 'retry';
  cursor?: number;
}

export interface EffectPage {
  items: EffectView[];
  next_cursor: number | null;
}

export const listEffects = endpoint({
  id: 'effects.list',
  method: 'get',
  path: '/api/v1/effects',
  summary: 'Effects of the caller’s tenant whose outcome is or was unknown, newest change first',
  access: read,
  params: {},
  query: shape<EffectQuery>({
    required: { limit: pageLimit(100) },
    optional: {
      state: Joi.string<'unknown' | 'happened' | 'not_happened' | 'retry'>()
        .valid('unknown', 'happened', 'not_happened', 'retry')
        .description('State of the effects. Default: unknown.'),
      cursor,
    },
  }),
  answer: {
    status: 200,
    body: shape<EffectPage>({
      required: {
        items: Joi.array().items(effectView),
        next_cursor: Joi.number().allow(null).description('Pass as cursor for the next page; null on the last one.'),
      },
    }),
  },
  errors: [],
});

export const getEffect = endpoint({
  id: 'effects.get',
  method: 'get',
  path: '/api/v1/effects/:id',
  summary: 'One effect',
  access: read,
  params: { id: effectId },
  answer: { status: 200, body: effectView },
  errors: ['effect_not_found'],
  otherTenant: 'absent',
});

export const listJobEffects = endpoint({
  id: 'effects.ofJob',
  method: 'get',
  path: '/api/v1/jobs/:id/effects',
  summary: 'All effects of a job, of the jobs that it retries, and of other attempts of its step, oldest first',
  access: read,
  params: { id: jobId },
  answer: {
    status: 200,
    body: shape<{ items: EffectView[] }>({ required: { items: Joi.array().items(effectView) } }),
  },
  errors: ['job_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

export interface EffectSettlement {
  outcome: 'happened' | 'not_happened' | 'retry';
  reason: string;
  result?: unknown;
}

export interface SettledEffect {
  effect: EffectView;
  retry_job_id?: string;
}

export const settleEffect = endpoint({
  id: 'effects.settle',
  method: 'post',
  path: '/api/v1/effects/:id/settle',
  summary: 'Settle an effect whose outcome is unknown',
  description:
    '`happened`: later attempts get the given result and do not repeat it. `not_happened`: later attempts make it. `retry`: the same, and the job is submitted again with the same effects, if it has a dead letter. Repeating a settlement changes nothing.',
  access: settle,
  audit: { type: 'job.request', action: 'effect.settle', resource: ['effect', 'id'], severity: 'HIGH' },
  params: { id: effectId },
  body: shape<EffectSettlement>({
    required: {
      outcome: Joi.string<'happened' | 'not_happened' | 'retry'>()
        .valid('happened', 'not_happened', 'retry')
        .description('What the operator found out.'),
      reason: trimmed().min(1).max(limits.effectReasonChars).description('How that is known.'),
    },
    optional: { result: Joi.any().description('Result of an effect that happened, for later attempts.') },
  }),
  answer: {
    status: 200,
    body: shape<SettledEffect>({
      required: { effect: effectView },
      optional: { retry_job_id: jobId.description('The new job, with `retry`.') },
    }),
  },
  errors: [
    'effect_not_found',
    'effect_settled',
    'effect_result_invalid',
    'backpressure',
    'overloaded',
    'singleton_conflict',
    'store_unavailable',
  ],
  otherTenant: 'absent',
});

export const effectEndpoints = [listEffects, getEffect, listJobEffects, settleEffect] as const;
