/** What a schema may be, and what a check may cost. Chosen: a registered schema runs on every job of a topic. */
export const schemaLimits = {
  /** As JSON text. */
  maxBytes: 262_144,
  maxDepth: 64,
  /** Objects and lists inside a schema, those of the schemas it refers to counted with it; compiling takes about a ms each. */
  maxSubschemas: 1_000,
  /** Other schemas that one schema may reach. */
  maxDocuments: 32,
  patternChars: 1_024,
  /** Longer texts never have a format: formats are checked by expressions that may backtrack. */
  formatChars: 4_096,
  /** Steps of one check; a step is one subschema at one value, a microsecond at worst. */
  checkSteps: 2_000_000,
  /** Steps of the second look, which gathers every violation once the first has found one. */
  gatherSteps: 100_000,
  /** Values larger than this are told their first violation only. */
  gatherNodes: 20_000,
  violations: 100,
  messageChars: 300,
} as const;
