import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, flag, moment, strings, text } from '../fields';
import { limits } from '../limits';
import { type DecisionVerdict, decisionVerdict, decisionVerdicts } from '../governance/decisions';
import { shape } from '../shape';
import { datasetName, evalLimits } from './eval-fields';

/** Times are ms here, RFC 3339 text or ms in JSON. See docs/reference/evals.md#datasets-from-incidents. */
export interface ExtractionBody {
  name: string;
  description: string;
  max_entries: number;
  dry_run: boolean;
  verdicts?: DecisionVerdict[];
  since?: number;
  until?: number;
  topic?: string;
  rule_id?: string;
  agent_id?: string;
}
export interface ExtractionView {
  dataset_id: string;
  name: string;
  version: number;
  entry_count: number;
  deduped_count: number;
  scanned_decisions: number;
  warnings: string[];
}

const extractionView = shape<ExtractionView>({
  required: {
    dataset_id: text('Id of the dataset; empty for a dry run.'),
    name: text('Name of the dataset.'),
    version: count('Version of the dataset; for a dry run the one it would have.'),
    entry_count: count('Number of entries.'),
    deduped_count: count('Matching decisions that equal another entry.'),
    scanned_decisions: count('Decisions that were read.'),
    warnings: strings('Limitations of the extraction.'),
  },
});

export const extractDataset = endpoint({
  id: 'evals.fromIncidents',
  audit: { type: 'governance.eval', action: 'eval_dataset.extract', resource: ['eval_dataset', 'name'], severity: 'LOW' },
  method: 'post',
  path: '/api/v1/evals/datasets/from-incidents',
  summary: 'Create an evaluation dataset from past decisions',
  description:
    'By default from denials and holds of the last 24 hours. Secrets and personal data in labels are replaced by [REDACTED].',
  access: { permission: 'evals.datasets.write', also: ['governance.read'], roles: ['admin'] },
  params: {},
  query: shape<{ dry_run: boolean }>({
    required: { dry_run: flag(false).description('Only report the result, as in the body.') },
  }),
  body: shape<ExtractionBody>({
    required: {
      name: datasetName,
      description: text('Description.').max(4_096).default(''),
      max_entries: Joi.number().integer().min(1).max(evalLimits.entries).default(1_000).description('Maximum entries.'),
      dry_run: Joi.boolean().default(false).description('Store nothing.'),
    },
    optional: {
      verdicts: Joi.array()
        .items(decisionVerdict('Decision.'))
        .min(1)
        .max(decisionVerdicts.length)
        .description('Only these decisions; default: deny and require_approval.'),
      since: moment('Decisions from this time on; default: the last 24 hours. RFC 3339, or ms since the epoch.'),
      until: moment('Decisions up to this time, at most 90 days later.'),
      topic: text('Topic, glob of topics, or `re:` and a regular expression.').max(1_024),
      rule_id: text('Only decisions of this rule.').max(limits.idChars),
      agent_id: text('Only decisions about jobs of this agent.').max(limits.idChars),
    },
  }),
  violationCodes: { name: 'eval_dataset_invalid' },
  answer: { status: 201, body: extractionView },
  otherAnswers: { 200: { description: 'The result of a dry run; nothing was stored.' } },
  errors: [
    'eval_dataset_invalid', 'eval_extraction_invalid', 'eval_nothing_extracted', 'eval_dataset_version_conflict',
    'eval_storage_full', 'eval_extraction_timeout', 'rate_limited', 'overloaded',
  ],
}); // prettier-ignore

export const extractionEndpoints = [extractDataset] as const;
