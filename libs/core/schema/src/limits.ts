/** Limits of schemas and checks. A registered schema runs on every job of a topic. */
export const schemaLimits = {
  /** As JSON text. */
  maxBytes: 262_144,
  maxDepth: 64,
  /** Objects and arrays inside a schema, including referenced schemas; each takes about 1 ms to compile. */
  maxSubschemas: 1_000,
  /** Referenced schemas, direct and indirect. */
  maxDocuments: 32,
  patternChars: 1_024,
  /** Longer texts match no format, because format expressions may backtrack. */
  formatChars: 4_096,
  /** Steps of one check; a step is one subschema at one value and takes at most a microsecond. */
  checkSteps: 2_000_000,
  /** Steps of the second check, which collects all violations after the first has found one. */
  gatherSteps: 100_000,
  /** For values with more nodes, only the first violation is reported. */
  gatherNodes: 20_000,
  violations: 100,
  messageChars: 300,
} as const;
