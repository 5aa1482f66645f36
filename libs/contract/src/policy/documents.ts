import { policyAuditEndpoints } from './audit';
import { bundleEndpoints } from './bundles';
import { globalPolicyEndpoints } from './global';
import { publishingEndpoints } from './publishing';
import { ruleEndpoints } from './rules';
import { shadowEndpoints } from './shadows';
import { velocityEndpoints } from './velocity';

export * from './audit';
export * from './bundles';
export * from './global';
export * from './publishing';
export * from './rules';
export * from './shadows';
export * from './velocity';
export type { BundleIdQuery, ShadowHead, SignatureView, Signed } from './fields';

/** Endpoints of policy documents. See docs/reference/policy.md#bundles. */
export const policyDocumentEndpoints = [
  ...bundleEndpoints,
  ...publishingEndpoints,
  ...ruleEndpoints,
  ...velocityEndpoints,
  ...globalPolicyEndpoints,
  ...policyAuditEndpoints,
  ...shadowEndpoints,
] as const;
