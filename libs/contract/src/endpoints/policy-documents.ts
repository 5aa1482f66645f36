import { bundleEndpoints } from './policy-bundles';

export * from './policy-bundles';
export type { SignatureView, Signed } from './policy-fields';

/** The life of policy documents. Policy contract 6 to 10. */
export const policyDocumentEndpoints = [...bundleEndpoints] as const;
