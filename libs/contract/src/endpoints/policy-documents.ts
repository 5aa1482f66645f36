import { policyAuditEndpoints } from './policy-audit';
import { bundleEndpoints } from './policy-bundles';
import { globalPolicyEndpoints } from './policy-global';
import { publishingEndpoints } from './policy-publishing';
import { ruleEndpoints } from './policy-rules';
import { shadowEndpoints } from './policy-shadows';
import { velocityEndpoints } from './policy-velocity';

export * from './policy-audit';
export * from './policy-bundles';
export * from './policy-global';
export * from './policy-publishing';
export * from './policy-rules';
export * from './policy-shadows';
export * from './policy-velocity';
export type { BundleIdQuery, ShadowHead, SignatureView, Signed } from './policy-fields';

/** The life of policy documents. See docs/reference/policy.md#bundles. */
export const policyDocumentEndpoints = [
  ...bundleEndpoints,
  ...publishingEndpoints,
  ...ruleEndpoints,
  ...velocityEndpoints,
  ...globalPolicyEndpoints,
  ...policyAuditEndpoints,
  ...shadowEndpoints,
] as const;
