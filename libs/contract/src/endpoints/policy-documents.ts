import { policyAuditEndpoints } from './policy-audit';
import { bundleEndpoints } from './policy-bundles';
import { publishingEndpoints } from './policy-publishing';
import { ruleEndpoints } from './policy-rules';

export * from './policy-audit';
export * from './policy-bundles';
export * from './policy-publishing';
export * from './policy-rules';
export type { BundleIdQuery, SignatureView, Signed } from './policy-fields';

/** The life of policy documents. Policy contract 6 to 10. */
export const policyDocumentEndpoints = [
  ...bundleEndpoints,
  ...publishingEndpoints,
  ...ruleEndpoints,
  ...policyAuditEndpoints,
] as const;
