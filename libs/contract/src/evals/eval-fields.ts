import Joi from 'joi';
import { anyObject, count, text } from '../fields';
import { limits } from '../limits';
import { shape } from '../shape';

/** Shapes that datasets, runs and comparisons share. See docs/reference/evals.md. */

export const evalLimits = {
  entries: 10_000,
  bodyBytes: 16 * 1_024 * 1_024,
  /** A run of more entries is evaluated in the background. */
  entriesAtOnce: 500,
  datasets: 1_000,
  /** Compressed bytes of the datasets and results of a tenant. */
  storedBytes: 256 * 1_024 * 1_024,
  runsPerHour: 12,
  extractionsPerHour: 6,
  entryMetadata: 32,
} as const;

export const evalVerdicts = ['ALLOW', 'DENY', 'REQUIRE_APPROVAL', 'THROTTLE', 'ALLOW_WITH_CONSTRAINTS'] as const;
export type EvalVerdict = (typeof evalVerdicts)[number];
export const evalVerdict = (description: string): Joi.Schema<EvalVerdict> =>
  Joi.string<EvalVerdict>()
    .valid(...evalVerdicts)
    .description(description);

/** What policy is asked about: a job without its input. */
export interface EvalInput {
  topic: string;
  tenant?: string;
  agent_id?: string;
  principal_id?: string;
  capability?: string;
  capabilities?: string[];
  risk_tags?: string[];
  requires?: string[];
  labels?: Record<string, string>;
  metadata?: Record<string, unknown>;
  pack_id?: string;
}
export const evalSources = ['manual', 'audit-import', 'replay-import'] as const;
export type EvalSource = (typeof evalSources)[number];
export interface EvalEntry {
  id: string;
  input: EvalInput;
  expected_decision: EvalVerdict;
  source: EvalSource;
  rule_id?: string;
  metadata?: Record<string, unknown>;
  source_ref?: string;
  notes?: string;
}

const id = (description: string) => text(description).max(limits.idChars);
const names = (description: string) =>
  Joi.array().items(Joi.string().max(limits.topicChars)).max(limits.tags).description(description);

export const evalInput: Joi.ObjectSchema<EvalInput> = shape<EvalInput>({
  required: { topic: Joi.string().min(1).max(limits.topicChars).description('Topic of the job.') },
  optional: {
    tenant: id('Tenant of the dataset; other values are replaced.'),
    agent_id: id('Agent that submits the job.'),
    principal_id: id('Principal of the job.'),
    capability: id('Capability of the job.'),
    capabilities: names('Capabilities: the entry is evaluated once for each, and the strictest decision counts.'),
    risk_tags: names('Risk tags.'),
    requires: names('Capabilities a pool must offer.'),
    labels: Joi.object()
      .pattern(/^.{1,256}$/, Joi.string().allow('').max(limits.labelValueBytes))
      .max(limits.labels)
      .description('Labels of the job. Reserved ones are ignored, as in a submission.'),
    metadata: anyObject('Fields of the input that rules read as metadata.').max(limits.labels),
    pack_id: id('Pack of the job.'),
  },
});

export const evalEntry: Joi.ObjectSchema<EvalEntry> = shape<EvalEntry>({
  required: {
    id: Joi.string().min(1).max(128).description('Unique in the dataset.'),
    input: evalInput,
    expected_decision: evalVerdict('Decision that policy should make.'),
    source: Joi.string<EvalSource>()
      .valid(...evalSources)
      .default('manual')
      .description('Origin of the entry.'),
  },
  optional: {
    rule_id: id('Rule that made the decision, for readers.'),
    metadata: anyObject('Notes for readers.').max(evalLimits.entryMetadata),
    source_ref: id('Origin of the entry, such as a job id.'),
    notes: text('Notes for readers.').max(4_096),
  },
});

export const datasetName = Joi.string()
  .pattern(/^[a-z0-9][a-z0-9_-]{2,63}$/)
  .messages({
    'string.pattern.base':
      '{{#label}} must have 3 to 64 lowercase letters, digits, _ and -, and begin with a letter or digit',
  })
  .description('Name of the dataset.');
export const datasetVersion = (description: string): Joi.NumberSchema =>
  Joi.number().integer().max(1_000_000_000).description(description);
export const evalId = Joi.string().min(1).max(64);
export const instant = (description: string): Joi.StringSchema => text(`${description} RFC 3339.`);
export const nextCursor = text('Cursor of the next page; empty at the end.');
export const evalCursor = Joi.string()
  .pattern(/^\d{1,16}$/)
  .messages({ 'string.pattern.base': '{{#label}} must be the next_cursor of the page before' })
  .description('next_cursor of the page before.');
export const evalPage = Joi.number().integer().min(1).max(200).default(50).description('Page size.');

/** Counts of a run. See docs/reference/evals.md#scores. */
export interface EvalSummaryView {
  total: number;
  passed: number;
  failed: number;
  regressions: number;
  errored: number;
  score_percent: number | null;
}
export const evalSummary: Joi.ObjectSchema<EvalSummaryView> = shape<EvalSummaryView>({
  required: {
    total: count('Evaluated entries.'),
    passed: count('Entries with the expected decision.'),
    failed: count('Entries with another decision, except regressions.'),
    regressions: count('Entries that are allowed without constraints and should not be.'),
    errored: count('Entries without a decision.'),
    score_percent: Joi.number().allow(null).description('passed / total × 100; null without entries.'),
  },
});

/** The dataset that a run or comparison evaluates. */
export interface EvaluatedDataset {
  dataset_id: string;
  dataset_name: string;
  dataset_version: number;
  tenant: string;
}
export const evaluatedDataset = {
  dataset_id: text('Dataset.'),
  dataset_name: text('Name of the dataset.'),
  dataset_version: count('Version of the dataset.'),
  tenant: text('Tenant of the dataset.'),
};

/** A policy to evaluate: the one in effect, or the same with a text in place of a bundle. */
export interface PolicyChoice {
  use_current_policy?: boolean;
  candidate_bundle_id?: string;
  candidate_content?: string;
}
export const policyChoice = {
  use_current_policy: Joi.boolean().description('Evaluate the policy in effect; the default without a candidate.'),
  candidate_bundle_id: Joi.string()
    .min(1)
    .max(256)
    .description('Bundle that candidate_content replaces. Without content: the stored bundle, enabled or not.'),
  candidate_content: text('Policy document, YAML. Without candidate_bundle_id it is added as another bundle.'),
};
/** The policy of a run, without its text. */
export interface ChosenPolicyView {
  kind: 'current' | 'bundle' | 'content';
  bundle_id?: string;
  sha256?: string;
}
export const chosenPolicy: Joi.ObjectSchema<ChosenPolicyView> = shape<ChosenPolicyView>({
  required: {
    kind: Joi.string<ChosenPolicyView['kind']>()
      .valid('current', 'bundle', 'content')
      .description('Policy in effect, a stored bundle, or a sent text.'),
  },
  optional: { bundle_id: text('Bundle of the candidate.'), sha256: text('Hash of the candidate text. SHA-256, hex.') },
});
export const maxEntries = Joi.number()
  .integer()
  .min(1)
  .max(evalLimits.entries)
  .description('Maximum entries to evaluate; the first of the dataset.');

/** Progress of a run. */
export interface EvalProgress {
  status: 'pending' | 'running' | 'failed';
  evaluated: number;
  total: number;
  started_at: string;
  completed_at?: string;
  policy_snapshot?: string;
  error?: string;
}
export const evalProgress = {
  required: {
    status: Joi.string<EvalProgress['status']>().valid('pending', 'running', 'failed'),
    evaluated: count('Entries evaluated so far.'),
    total: count('Entries to evaluate.'),
    started_at: instant('Start.'),
  },
  optional: {
    completed_at: instant('End of a failed run.'),
    policy_snapshot: text('Policy that was evaluated.'),
    error: text('Reason of the failure.'),
  },
};

export const readDatasets = { permission: 'evals.datasets.read', roles: ['admin', 'operator', 'viewer'] } as const;
export const writeDatasets = { permission: 'evals.datasets.write', roles: ['admin'] } as const;
export const removeDatasets = { permission: 'evals.datasets.delete', roles: ['admin'] } as const;
export const readRuns = { permission: 'evals.runs.read', roles: ['admin', 'operator', 'viewer'] } as const;
export const executeRuns = { permission: 'evals.runs.execute', roles: ['admin'] } as const;
export const removeRuns = { permission: 'evals.runs.delete', roles: ['admin'] } as const;
