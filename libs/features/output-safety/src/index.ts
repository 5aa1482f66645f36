/** Checks results before and after their release; redacts and quarantines. */
export { checkContent, cleanContent, type ContentCheck } from './check-content';
export { checkMetadata, type MetadataCheck } from './check-metadata';
export type { Brought, ResultFacts } from './output-facts';
export { scanEntry, scanOutput } from './scan-output';
export { ScanRunner } from './scan-runner';
export { tellOutput } from './tell-output';
