import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, text } from '../fields';
import { shape } from '../shape';
import {
  bundleParams,
  bundleQuery,
  lastWritten,
  policyRead,
  policyWrite,
  sha256,
  shadowHead,
  signatureView,
  signedFields,
  time,
  type ShadowHead,
  type Signed,
  type SignatureView,
} from './fields';

interface BundleFacts {
  enabled: boolean;
  author?: string;
  message?: string;
  created_at?: string;
  updated_at?: string;
  version?: string;
  installed_at?: string;
  sha256: string;
}
/** See docs/reference/policy.md#bundles. */
export interface BundleRecordView extends BundleFacts {
  content: string;
  _signature?: SignatureView;
}
export interface BundleView extends BundleRecordView {
  id: string;
  shadow?: ShadowHead;
}
export type BundleSource = 'core' | 'secops' | 'pack';
export interface BundleItem extends BundleFacts {
  id: string;
  source: BundleSource;
  rule_count: number;
}
export interface BundlesView {
  bundles: Record<string, BundleRecordView>;
  items: BundleItem[];
  updated_at: string | null;
}

const facts = {
  required: {
    enabled: Joi.boolean().description('Whether its rules are in effect.'),
    sha256: sha256('Hash of the stored content; send it as expected_sha256 or If-Match with the next write.'),
  },
  optional: {
    author: text('Author of the last write.'),
    message: text('Reason of the last write.'),
    created_at: time('Time of the first write.'),
    updated_at: time('Time of the last write.'),
    version: text('Version of the content.'),
    installed_at: time('Installation time of its pack.'),
  },
};
const content = text('The policy document, YAML.');
const optionalRecord = { ...facts.optional, _signature: signatureView };
export const bundleRecordView = shape<BundleRecordView>({
  required: { ...facts.required, content },
  optional: optionalRecord,
});
const bundleId = text('Bundle id.');

export const listBundles = endpoint({
  id: 'policy.listBundles',
  method: 'get',
  path: '/api/v1/policy/bundles',
  summary: 'List policy bundles',
  access: policyRead,
  params: {},
  answer: {
    status: 200,
    body: shape<BundlesView>({
      required: {
        bundles: Joi.object().pattern(/.*/, bundleRecordView).description('Bundles by id.'),
        items: Joi.array()
          .items(
            shape<BundleItem>({
              required: {
                ...facts.required,
                id: bundleId,
                source: Joi.string<BundleSource>()
                  .valid('core', 'secops', 'pack')
                  .description('secops: operators; pack: an installed pack; core: written by other routes.'),
                rule_count: count('Number of rules of all kinds; 0 if the bundle is invalid.'),
              },
              optional: facts.optional,
            }),
          )
          .description('Bundle summaries by id, without content.'),
        updated_at: lastWritten('Time of the last write to any bundle.'),
      },
    }),
  },
  errors: [],
});

export const getBundle = endpoint({
  id: 'policy.getBundle',
  method: 'get',
  path: '/api/v1/policy/bundles/:bundle_id',
  otherTenant: 'absent',
  summary: 'Read a policy bundle',
  access: policyRead,
  params: bundleParams,
  query: bundleQuery,
  answer: {
    status: 200,
    body: shape<BundleView>({
      required: { ...facts.required, id: bundleId, content },
      optional: {
        ...optionalRecord,
        shadow: shape<ShadowHead>({ required: shadowHead }).description(
          'Shadow that the caller’s tenant runs for this bundle.',
        ),
      },
    }),
    headers: { ETag: 'SHA-256 of the content, for If-Match.' },
  },
  errors: ['bundle_not_found'],
});

export interface BundleBody extends Signed {
  content: string;
  enabled: boolean;
  expected_sha256?: string;
}
export interface BundleWritten {
  id: string;
  updated_at: string;
  sha256: string;
  signature?: SignatureView;
}

export const putBundle = endpoint({
  id: 'policy.putBundle',
  method: 'put',
  path: '/api/v1/policy/bundles/:bundle_id',
  owner: 'installation',
  summary: 'Create or replace an operator policy bundle',
  description:
    'Accepts ids of the form secops/<name>. An enabled bundle takes effect immediately; a disabled bundle is a draft until it is published. The stored text may differ from the sent one: keys without a value are omitted. With If-Match (or expected_sha256) the write is rejected if the stored content differs; without it, only a concurrent write is rejected.',
  access: policyWrite,
  audit: { type: 'safety.policy_change', action: 'bundle.put', resource: ['policy', 'bundle_id'], severity: 'HIGH' },
  params: bundleParams,
  query: bundleQuery,
  body: shape<BundleBody>({
    required: {
      content: Joi.string().description('The policy document, YAML.'),
      enabled: Joi.boolean().default(true).description('false stores a draft.'),
    },
    optional: {
      ...signedFields,
      expected_sha256: Joi.string()
        .hex()
        .length(64)
        .lowercase()
        .prefs({ convert: true })
        .description('SHA-256 of the content to replace.'),
    },
  }),
  violationCodes: { content: 'policy_validation_failed' },
  answer: {
    status: 200,
    body: shape<BundleWritten>({
      required: {
        id: bundleId,
        updated_at: time('Time of the write.'),
        sha256: sha256('Hash of the stored content.'),
      },
      optional: { signature: signatureView },
    }),
  },
  errors: [
    'policy_validation_failed',
    'bundle_not_writable',
    'tier_limit_exceeded',
    'policy_version_conflict',
    'policy_signing_required',
  ],
});

export const removeBundle = endpoint({
  id: 'policy.removeBundle',
  method: 'delete',
  path: '/api/v1/policy/bundles/:bundle_id',
  owner: 'installation',
  summary: 'Delete an operator policy bundle',
  description: 'With If-Match, the delete is rejected if the stored content differs.',
  access: policyWrite,
  audit: { type: 'safety.policy_change', action: 'bundle.remove', resource: ['policy', 'bundle_id'], severity: 'HIGH' },
  params: bundleParams,
  query: bundleQuery,
  answer: { status: 204 },
  errors: ['bundle_not_found', 'bundle_not_writable', 'policy_version_conflict'],
});

export const bundleEndpoints = [listBundles, getBundle, putBundle, removeBundle] as const;
