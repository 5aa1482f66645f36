/** Fixed limits of the interface. Those that operators may change are environment variables. */
export const limits = {
  promptChars: 50_000,
  promptCharsCeiling: 500_000,
  topicChars: 256,
  tags: 50,
  labels: 50,
  labelKeyBytes: 256,
  labelValueBytes: 4_096,
  idChars: 512,
  pageMost: 500,
  approvalTextBytes: 512,
  contentLabelBytes: 65_536,
  schedulingAttempts: 50,
  /** One window of a scan. */
  scanBytes: 2_097_152,
  /** How much of a window the next one looks at again, so that nothing hides at a seam. */
  scanOverlapBytes: 65_536,
  /** Most of a result that is scanned; a larger one counts as one that could not be. */
  scanMostBytes: 33_554_432,
  /** Most of an input document that is read for policy and shown to people. */
  contextBytes: 8_388_608,
  /** Questions to the kernel in one call, and all of them encoded. */
  decisionBatch: 32,
  decisionBatchBytes: 1_048_576,
  /** A config document as JSON, by where it stands: all of a job's documents together go to its worker in one message. */
  configBytes: { tenant: 65_536, default: 262_144, system: 2_097_152 },
  /** Keys at the top of a config document; a registry such as system/topics has more. */
  configKeys: 256,
  registryKeys: 10_000,
  /** Team, workflow and step documents of a tenant. */
  configDocuments: 1_000,
  /** Registered schemas of one tenant; those of the installation are bounded by the license alone. */
  tenantSchemas: 1_000,
  /** Registered topics of one tenant, and of all tenants together: every replica holds the registry in memory. */
  tenantTopics: 1_000,
  topics: 5_000,
} as const;
