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
    enabled: Joi.boolean().description('Whether its rules are in force.'),
    sha256: sha256('Of the stored content; send it as expected_sha256 or If-Match with the next write.'),
  },
  optional: {
    author: text('Who wrote it.'),
    message: text('Why.'),
    created_at: time('When it was first written.'),
    updated_at: time('When it was last written.'),
    version: text('Version of what it holds.'),
    installed_at: time('When its pack was installed.'),
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
  summary: 'Every policy bundle',
  access: policyRead,
  params: {},
  answer: {
    status: 200,
    body: shape<BundlesView>({
      required: {
        bundles: Joi.object().pattern(/.*/, bundleRecordView).description('By id.'),
        items: Joi.array()
          .items(
            shape<BundleItem>({
              required: {
                ...facts.required,
                id: bundleId,
                source: Joi.string<BundleSource>()
                  .valid('core', 'secops', 'pack')
                  .description('secops: operators; pack: an installed pack; core: written by other routes.'),
                rule_count: count('Rules of every kind; 0 when it cannot be read.'),
              },
              optional: facts.optional,
            }),
          )
          .description('By id, without their content.'),
        updated_at: lastWritten('When any of them was last written.'),
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
  summary: 'One policy bundle',
  access: policyRead,
  params: bundleParams,
  query: bundleQuery,
  answer: {
    status: 200,
    body: shape<BundleView>({
      required: { ...facts.required, id: bundleId, content },
      optional: {
        ...optionalRecord,
        shadow: shape<ShadowHead>({ required: shadowHead }).description('What the caller’s tenant tries in its place.'),
      },
    }),
    headers: { ETag: 'The SHA-256 of its content, for If-Match.' },
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
  summary: 'Write a policy bundle of the operators',
  description:
    'Only ids of the form secops/<name>. An enabled bundle is live at once; one that is not is a draft, which publishing puts into force. The stored text may differ from the sent one: keys without a value are left out. If-Match (or expected_sha256) refuses a write over a text that was not seen; without it, only a write that races with this one is refused.',
  access: policyWrite,
  params: bundleParams,
  query: bundleQuery,
  body: shape<BundleBody>({
    required: {
      content: Joi.string().description('The policy document, YAML.'),
      enabled: Joi.boolean().default(true).description('False stages a draft.'),
    },
    optional: {
      ...signedFields,
      expected_sha256: Joi.string()
        .hex()
        .length(64)
        .lowercase()
        .prefs({ convert: true })
        .description('SHA-256 of the text this one replaces.'),
    },
  }),
  violationCodes: { content: 'policy_validation_failed' },
  answer: {
    status: 200,
    body: shape<BundleWritten>({
      required: {
        id: bundleId,
        updated_at: time('When it was written.'),
        sha256: sha256('Of the content as it was stored.'),
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
  summary: 'Remove a policy bundle of the operators',
  description: 'If-Match refuses to remove a text that was not seen.',
  access: policyWrite,
  params: bundleParams,
  query: bundleQuery,
  answer: { status: 204 },
  errors: ['bundle_not_found', 'bundle_not_writable', 'policy_version_conflict'],
});

export const bundleEndpoints = [listBundles, getBundle, putBundle, removeBundle] as const;
