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
  audit: { type: 'job.request', action: 'artifact.put' },
  params: {},
  query: shape<{ max_bytes?: number }>({
    required: {},
    optional: {
      max_bytes: Joi.number().integer().min(1).description('Reject larger content; can only lower the limit.'),
    },
  }),
  body: shape<PutArtifactBody>({
    required: { labels: stringMap('Labels; the service sets tenant_id.').max(50).default({}) },
    optional: {
      content_base64: text('Content, base64; takes precedence over content.'),
      content: text('Content as text.'),
      content_type: text('Media type.').max(256),
      retention: text('short (24 h), standard (7 d) or audit (30 d); standard when absent or unknown.'),
    },
  }),
  bodyIgnoresUnknown: true,
  bodyLimit: 'artifact',
  answer: {
    status: 200,
    body: shape<{ artifact_ptr: string; size_bytes: number }>({
      required: { artifact_ptr: text('Pointer of the artifact.'), size_bytes: count('Size.') },
    }),
  },
  errors: [
    'content_required',
    'invalid_base64_content',
    'tenant_access_denied',
    'artifact_too_large',
    'tier_limit_exceeded',
    'overloaded',
  ],
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
  audit: { type: 'governance.read', action: 'artifact.read', resource: ['artifact', 'ptr'] },
  access: { permission: 'jobs.read', roles: 'any' },
  params: { ptr: Joi.string().max(512).description('Percent-encoded pointer, or the bare uuid.') },
  query: shape<{ max_bytes?: number }>({
    required: {},
    optional: { max_bytes: Joi.number().integer().min(1).description('Reject a larger artifact.') },
  }),
  answer: {
    status: 200,
    body: shape<ArtifactView>({
      required: {
        artifact_ptr: text('Pointer of the artifact.'),
        content_base64: text('Content, base64.'),
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
  summary: 'Read the document of a context, result or memory pointer',
  audit: { type: 'governance.read', action: 'memory.read', resource: ['document', 'ptr'] },
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
        base64: text('Content, base64.'),
      },
      optional: { text: text('Content, if it is UTF-8.'), json: Joi.any().description('Content, if it is JSON.') },
    }),
  },
  errors: ['missing_ptr_or_key', 'invalid_pointer', 'not_found', 'tenant_access_denied', 'output_quarantined'],
});

export const dataEndpoints = [putArtifact, getArtifact, readMemory] as const;
