import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, jobId, text } from '../fields';
import { limits } from '../limits';
import { shape } from '../shape';

/*
 * Data URLs give a worker without access to the store read and write access to the data of one dispatch. See ADR 14.
 */

const maxTokenChars = 4_096;
const token = text('Token of the data URL; sent in the dispatch.').max(maxTokenChars);

const common = {
  access: 'public',
  params: { id: jobId },
  // Tenant credentials are ignored, also those of the job's tenant.
  otherTenant: 'data_url_invalid',
} as const;

/** The query of a data URL. */
export interface DataUrlQuery {
  token?: string;
}

const query = shape<DataUrlQuery>({ required: {}, optional: { token } });

const refusals = [
  'data_url_invalid',
  'data_url_expired',
  'data_url_forbidden',
  'tenant_access_denied',
  'job_not_found',
  'dispatch_superseded',
  'job_not_in_flight',
] as const;

export const readJobInput = endpoint({
  ...common,
  id: 'data.readInput',
  signedUrl: 'input',
  method: 'get',
  path: '/api/v1/data/:id/input',
  summary: 'Read the input document of a job with the URL from its dispatch',
  query,
  answer: { status: 200, raw: true, body: Joi.binary().description('The document as it is stored.') },
  errors: [...refusals, 'input_not_found', 'data_too_large'],
});

export interface StoredResultView {
  result_ptr: string;
  size_bytes: number;
  sha256: string;
}

export const putJobResult = endpoint({
  ...common,
  id: 'data.putResult',
  audit: 'self',
  signedUrl: 'result',
  method: 'put',
  path: '/api/v1/data/:id/result',
  summary: 'Store the result of a job with the URL from its dispatch',
  description:
    'Stores the bytes under a pointer derived from the job and their SHA-256: a repeat is a no-op, and stored results are never overwritten. Name the pointer as `result_ptr` in the job result.',
  query,
  rawBody: true,
  bodyLimit: 'data',
  answer: {
    status: 200,
    body: shape<StoredResultView>({
      required: {
        result_ptr: text('Pointer of the result.'),
        size_bytes: count('Size.'),
        sha256: text('SHA-256 of the bytes, hex.'),
      },
    }),
  },
  errors: [...refusals, 'overloaded'],
});

export interface PutJobArtifactQuery extends DataUrlQuery {
  content_type?: string;
  retention?: string;
  labels?: string;
}

export const putJobArtifact = endpoint({
  ...common,
  id: 'data.putArtifact',
  audit: 'self',
  signedUrl: 'artifact',
  method: 'post',
  path: '/api/v1/data/:id/artifacts',
  summary: 'Store an artifact of a job with the URL from its dispatch',
  description: 'The service sets the label `job_id`, so that the artifact is withheld with the output of its job.',
  query: shape<PutJobArtifactQuery>({
    required: {},
    optional: {
      token,
      content_type: text('Media type.').max(256),
      retention: text('short (24 h), standard (7 d) or audit (30 d); standard when absent or unknown.').max(16),
      labels: text('Labels: a JSON object of strings.').max(8_192),
    },
  }),
  rawBody: true,
  bodyLimit: 'data',
  answer: {
    status: 200,
    body: shape<{ artifact_ptr: string; size_bytes: number }>({
      required: { artifact_ptr: text('Pointer.'), size_bytes: count('Size.') },
    }),
  },
  errors: [...refusals, 'content_required', 'artifact_too_large', 'tier_limit_exceeded', 'overloaded'],
});

export interface EffectReport {
  op: 'begin' | 'finish' | 'abandon';
  key: string;
  call: string;
  result?: string;
}

export interface EffectReportView {
  state: 'begun' | 'done' | 'happened' | 'unknown' | 'not_happened';
  result?: string;
}

export const reportEffect = endpoint({
  ...common,
  id: 'data.reportEffect',
  audit: 'self',
  signedUrl: 'effect',
  method: 'post',
  path: '/api/v1/data/:id/effects',
  summary: 'Record the intent or the result of a side effect of a job with the URL from its dispatch',
  description:
    '`begin` returns `begun` when the worker may make the side effect now, the recorded result when it was made before, and `unknown` when that must be settled first. `finish` records the result, `abandon` that it was not made. All three can be repeated.',
  query,
  body: shape<EffectReport>({
    required: {
      op: Joi.string<'begin' | 'finish' | 'abandon'>()
        .valid('begin', 'finish', 'abandon')
        .description('What is recorded.'),
      key: Joi.string().min(1).max(limits.effectKeyChars).description('Name of the effect in its job.'),
      call: Joi.string()
        .pattern(/^[0-9a-f]{32}$/)
        .messages({ 'string.pattern.base': '{{#label}} must be 32 hex digits' })
        .description('Random id of this attempt to make it; the same in `begin`, `finish` and `abandon`.'),
    },
    optional: {
      result: Joi.string()
        .allow('')
        .max(limits.effectResultBytes)
        .description('Result of the effect, JSON text; with `finish` only.'),
    },
  }),
  answer: {
    status: 200,
    body: shape<EffectReportView>({
      required: {
        state: Joi.string<'begun' | 'done' | 'happened' | 'unknown' | 'not_happened'>()
          .valid('begun', 'done', 'happened', 'unknown', 'not_happened')
          .description('State of the effect.'),
      },
      optional: { result: text('Recorded result, JSON text; absent for none.') },
    }),
  },
  errors: [
    ...refusals,
    'too_many_effects',
    'effect_not_begun',
    'effect_settled',
    'effect_result_invalid',
    'overloaded',
  ],
});

export const dataUrlEndpoints = [readJobInput, putJobResult, putJobArtifact, reportEffect] as const;
