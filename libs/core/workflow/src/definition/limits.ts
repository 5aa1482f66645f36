/** Limits of a definition. See docs/reference/workflows.md#limits. */
export const definitionLimits = {
  /** As JSON text. */
  maxBytes: 1_048_576,
  maxDepth: 64,
  /** Default when the caller sets none. */
  maxSteps: 2_000,
  /** Maximum reported faults; of further ones only the number is reported. */
  maxFaults: 100,
  idChars: 64,
  workflowIdChars: 256,
  nameChars: 256,
  topicChars: 256,
  textChars: 16_384,
  pathChars: 512,
  /** A week. */
  timeoutSec: 604_800,
  delaySec: 31_622_400,
  retries: 100,
  backoffSec: 604_800,
  multiplier: 1_000,
  rounds: 10_000,
  quorum: 100,
  parallel: 10_000,
  words: 100,
  labels: 100,
  parameters: 500,
  /** Objects and lists in all schemas of a definition, duplicates counted once; each takes about 1 ms to compile. */
  subschemas: 2_000,
} as const;
