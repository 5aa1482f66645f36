import Joi from 'joi';
import { text } from '../fields';
import type { Access } from '../permissions';
import { shape } from '../shape';

/** Shapes that several families of policy endpoints share. See docs/reference/policy.md#bundles. */

export const policyRead = { permission: 'policy.read', roles: ['admin'] } as const satisfies Access;
export const policyWrite = { permission: 'policy.write', roles: ['admin'] } as const satisfies Access;

/** Fields of a write that the stored record and the policy audit keep. */
export interface Signed {
  author?: string;
  message?: string;
}
export const signedFields = {
  author: text(
    'Name to sign with, for credentials of all tenants; ignored from other callers, who sign with their own.',
  ).max(256),
  message: text('Why.').max(2_048),
};

export const time = (description: string): Joi.StringSchema => text(`${description} RFC 3339.`);
/** Of a list: null while it has nothing that was ever written. */
export const lastWritten = (description: string): Joi.Schema<string | null> =>
  Joi.string().allow(null).description(`${description} RFC 3339; null when none ever was.`);
export const sha256 = (description: string): Joi.StringSchema => text(`${description} SHA-256, hex.`);

export interface SignatureView {
  algorithm: 'ed25519';
  key_id: string;
  value: string;
  hash: string;
  signed_bytes: number;
}
export const signatureView = shape<SignatureView>({
  required: {
    algorithm: Joi.string<'ed25519'>().valid('ed25519'),
    key_id: text('Id of the signing key.'),
    value: text('The signature, base64.'),
    hash: sha256('Of what was signed.'),
    signed_bytes: Joi.number().integer().min(0),
  },
}).description('Over the UTF-8 bytes of the stored content.');

export interface BundleIdQuery {
  bundle_id?: string;
}
export const bundleIdChars = 256;
const bundleId = Joi.string().min(1).max(bundleIdChars);
export const bundleParams = { bundle_id: bundleId.description('Bundle id, with ~ for each /.') };
export const bundleIdField = { bundle_id: bundleId.description('Bundle id as it is; wins over the path.') };
export const bundleQuery = shape<BundleIdQuery>({ required: {}, optional: bundleIdField });

/** What is told of a shadow wherever it is named. */
export interface ShadowHead {
  shadow_bundle_id: string;
  bundle_id: string;
  tenant_id: string;
  created_by: string;
  created_at: string;
  activated_at: string;
}
export const shadowHead = {
  shadow_bundle_id: text('Names this shadow; a new one each time it is written.'),
  bundle_id: text('Bundle in whose place it is tried.'),
  tenant_id: text('Tenant for whose jobs it is tried.'),
  created_by: text('Who wrote it.'),
  created_at: time('When the bundle’s shadow was first written.'),
  activated_at: time('When it was last written.'),
};
