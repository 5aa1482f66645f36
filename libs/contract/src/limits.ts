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
  /** Concurrency, rate, debounce and singleton keys of jobs, and the largest limit of one. */
  limitKeyChars: 256,
  limitByKey: 10_000,
  /** The longest period of a limit by key. */
  limitPeriodMs: 86_400_000,
  pageMost: 500,
  approvalTextBytes: 512,
  contentLabelBytes: 65_536,
  schedulingAttempts: 50,
  /** One window of a scan. */
  scanBytes: 2_097_152,
  /** Overlap of two windows, so that no match is missed at a boundary. */
  scanOverlapBytes: 65_536,
  /** Maximum size of a scanned result; a larger one counts as a failed scan. */
  scanMostBytes: 33_554_432,
  /** Maximum bytes of an input document that are read for policy and shown in the API. */
  contextBytes: 8_388_608,
  /** Maximum requests in one kernel call, and their total encoded size. */
  decisionBatch: 32,
  decisionBatchBytes: 1_048_576,
  /** Maximum size of a config document as JSON, by scope: all documents of a job are sent to its worker in one message. */
  configBytes: { tenant: 65_536, default: 262_144, system: 2_097_152 },
  /** Maximum top-level keys of a config document; a registry such as system/topics has more. */
  configKeys: 256,
  registryKeys: 10_000,
  /** Team, workflow and step documents of a tenant. */
  configDocuments: 1_000,
  /** Registered schemas of one tenant; those of the installation are bounded by the license alone. */
  tenantSchemas: 1_000,
  /** Registered topics of one tenant, and of all tenants together: every replica holds the registry in memory. */
  tenantTopics: 1_000,
  topics: 5_000,
  /** Worker credentials of one tenant, revoked ones included: every replica holds all of them in memory. */
  tenantWorkerCredentials: 5_000,
  /** Agents of one tenant, revoked ones included. */
  tenantAgents: 5_000,
  /** Users of one tenant, disabled ones included. */
  tenantUsers: 20_000,
  scimGroups: 2_000,
  deniedEventsListed: 50,
  /** Managed API keys of one tenant that are not revoked. */
  tenantApiKeys: 1_000,
  apiKeyNameChars: 128,
  /** Chars of the identity of a key's makers: a key made with a key that was made with a key, and so on. */
  apiKeyMakerChars: 1_024,
  roles: 500,
  rolePermissions: 128,
  roleParents: 32,
  roleDescriptionChars: 1_000,
  legalHoldReasonChars: 2_000,
  effectKeyChars: 200,
  effectResultBytes: 16_384,
  effectReasonChars: 2_000,
  legalHoldsListed: 1_000,
} as const;
