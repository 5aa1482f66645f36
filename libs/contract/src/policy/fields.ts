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
    'Author name, for callers with access to all tenants; otherwise ignored, and the caller is the author.',
  ).max(256),
  message: text('Reason of the change.').max(2_048),
};

export const time = (description: string): Joi.StringSchema => text(`${description} RFC 3339.`);
/** Time of the last write to a list; null if nothing was ever written. */
export const lastWritten = (description: string): Joi.Schema<string | null> =>
  Joi.string().allow(null).description(`${description} RFC 3339; null if there is none.`);
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
    hash: sha256('Hash of the signed bytes.'),
    signed_bytes: Joi.number().integer().min(0),
  },
}).description('Signature of the UTF-8 bytes of the stored content.');

export interface BundleIdQuery {
  bundle_id?: string;
}
export const bundleIdChars = 256;
const bundleId = Joi.string().min(1).max(bundleIdChars);
export const bundleParams = { bundle_id: bundleId.description('Bundle id, with ~ for each /.') };
export const bundleIdField = {
  bundle_id: bundleId.description('Unencoded bundle id; takes precedence over the path.'),
};
export const bundleQuery = shape<BundleIdQuery>({ required: {}, optional: bundleIdField });

/** Fields common to all views of a shadow. */
export interface ShadowHead {
  shadow_bundle_id: string;
  bundle_id: string;
  tenant_id: string;
  created_by: string;
  created_at: string;
  activated_at: string;
}
export const shadowHead = {
  shadow_bundle_id: text('Id of this shadow; each write creates a new id.'),
  bundle_id: text('Bundle that it would replace.'),
  tenant_id: text('Tenant whose jobs it evaluates.'),
  created_by: text('Author.'),
  created_at: time('Time of the first write.'),
  activated_at: time('Time of the last write.'),
};
