import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, stringMap, text } from '../fields';
import { shape } from '../shape';

/** See docs/reference/jobs.md#artifacts. */
export interface PutArtifactBody {
  content_base64?: string;
  content?: string;
  content_type?: string;
  retention?: string;
  labels: Record<string, string>;
}

export const putArtifact = endpoint({
  id: 'artifacts.put',
  method: 'post',
  path: '/api/v1/artifacts',
  summary: 'Store an artifact',
  access: { permission: 'jobs.write', roles: ['admin', 'operator', 'user'] },
  params: {},
  query: shape<{ max_bytes?: number }>({
    required: {},
    optional: {
      max_bytes: Joi.number().integer().min(1).description('Refuse more than this; may only narrow the limit.'),
    },
  }),
  body: shape<PutArtifactBody>({
    required: { labels: stringMap('Labels; tenant_id is written by the service.').max(50).default({}) },
    optional: {
      content_base64: text('Bytes; wins over content.'),
      content: text('Text.'),
      content_type: text('Media type.').max(256),
      retention: text('short (24 h), standard (7 d) or audit (30 d); standard when absent or unknown.'),
    },
  }),
  bodyIgnoresUnknown: true,
  bodyLimit: 'artifact',
  answer: {
    status: 200,
    body: shape<{ artifact_ptr: string; size_bytes: number }>({
      required: { artifact_ptr: text('Pointer.'), size_bytes: count('Size.') },
    }),
  },
  errors: ['content_required', 'invalid_base64_content', 'tenant_access_denied', 'artifact_too_large', 'overloaded'],
});

export interface ArtifactView {
  artifact_ptr: string;
  content_base64: string;
  metadata: { content_type?: string; size_bytes: number; retention: string; labels: Record<string, string> };
}

export const getArtifact = endpoint({
  id: 'artifacts.get',
  method: 'get',
  path: '/api/v1/artifacts/:ptr',
  summary: 'Read an artifact',
  access: { permission: 'jobs.read', roles: 'any' },
  params: { ptr: Joi.string().max(512).description('Percent-encoded pointer, or the bare uuid.') },
  query: shape<{ max_bytes?: number }>({
    required: {},
    optional: { max_bytes: Joi.number().integer().min(1).description('Refuse a larger one.') },
  }),
  answer: {
    status: 200,
    body: shape<ArtifactView>({
      required: {
        artifact_ptr: text('Pointer.'),
        content_base64: text('Bytes.'),
        metadata: Joi.object({
          content_type: text('Media type.'),
          size_bytes: count('Size.').required(),
          retention: Joi.string().required(),
          labels: stringMap('Labels.').required(),
        }),
      },
    }),
  },
  errors: [
    'invalid_artifact_pointer',
    'artifact_not_found',
    'tenant_access_denied',
    'artifact_too_large',
    'output_quarantined',
  ],
  otherTenant: 'tenant_access_denied',
});

export interface MemoryView {
  pointer: string;
  key: string;
  kind: string;
  size_bytes: number;
  base64: string;
  text?: string;
  json?: unknown;
}

export const readMemory = endpoint({
  id: 'memory.read',
  method: 'get',
  path: '/api/v1/memory',
  summary: 'Read what is behind a context, result or memory pointer',
  access: { permission: 'memory.read', roles: ['admin'] },
  params: {},
  query: shape<{ ptr?: string; key?: string }>({
    required: {},
    optional: { ptr: text('Pointer, such as redis://ctx:<job id>.').max(1024), key: text('Key or pointer.').max(1024) },
  }),
  answer: {
    status: 200,
    body: shape<MemoryView>({
      required: {
        pointer: text('Pointer.'),
        key: text('Key.'),
        kind: Joi.string().valid('context', 'result', 'memory'),
        size_bytes: count('Size.'),
        base64: text('Bytes.'),
      },
      optional: { text: text('When it is UTF-8.'), json: Joi.any().description('When it is JSON.') },
    }),
  },
  errors: ['missing_ptr_or_key', 'invalid_pointer', 'not_found', 'tenant_access_denied', 'output_quarantined'],
});

export const dataEndpoints = [putArtifact, getArtifact, readMemory] as const;
