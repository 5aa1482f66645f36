/** Checks results before and after their release; redacts and quarantines. */
export { scanEntry, scanOutput, ScanRunner } from './background-scan';
export { type CheckedResult, checkContent, checkMetadata, checkSmallBody, type ContentCheck } from './check';
export { publishOutputEvent } from './record';
export { ResultBody, type ResultFacts } from './result-body';
export { buildOutputRequest } from './scan-body';
