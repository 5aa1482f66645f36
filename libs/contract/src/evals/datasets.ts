import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, flag, moment, text } from '../fields';
import { shape } from '../shape';
import {
  datasetName,
  datasetVersion,
  evalCursor,
  type EvalEntry,
  evalEntry,
  evalId,
  evalLimits,
  evalPage,
  instant,
  nextCursor,
  readDatasets,
  removeDatasets,
  writeDatasets,
} from './eval-fields';

/** A dataset in lists. See docs/reference/evals.md#datasets. */
export interface EvalDatasetItem {
  id: string;
  name: string;
  version: number;
  tenant: string;
  description: string;
  created_at: string;
  updated_at: string;
  created_by: string;
  entry_count: number;
  content_hash: string;
}
export interface EvalDatasetView extends EvalDatasetItem {
  entries: EvalEntry[];
}
export interface EvalDatasetBody {
  name: string;
  version: number;
  description: string;
  entries: EvalEntry[];
}
export interface EvalSuccessorBody {
  version: number;
  description?: string;
  entries: EvalEntry[];
}
export interface EvalDatasetsQuery {
  name_prefix?: string;
  created_after?: number;
  created_before?: number;
  limit: number;
  cursor?: string;
}

const itemFields = {
  id: text('Dataset id.'),
  name: text('Name; all versions of a dataset share it.'),
  version: count('Version, from 1.'),
  tenant: text('Tenant of the dataset.'),
  description: text('Description.'),
  created_at: instant('Creation.'),
  updated_at: instant('Equal to created_at: a dataset does not change.'),
  created_by: text('Author.'),
  entry_count: count('Number of entries.'),
  content_hash: text('SHA-256, hex, of the entries as JSON with sorted keys.'),
};
const datasetItem = shape<EvalDatasetItem>({ required: itemFields });
const datasetView = shape<EvalDatasetView>({ required: { ...itemFields, entries: Joi.array().items(evalEntry) } });

const entries = Joi.array()
  .items(evalEntry)
  .min(1)
  .max(evalLimits.entries)
  .description(`Entries, at most ${evalLimits.entries}.`);
const version = datasetVersion('Version, from 1; 0 = the next one.').min(0).default(0);
const description = text('Description.').max(4_096);
const invalid = 'eval_dataset_invalid' as const;
const writing = {
  bodyLimit: 'dataset',
  bodyItems: 'entries',
  tooLarge: 'eval_dataset_too_large',
  violationCodes: { name: invalid, version: invalid, description: invalid, entries: invalid },
} as const;
const params = { id: evalId.description('Dataset id.') };
const missing = 'eval_dataset_not_found' as const;

export const createDataset = endpoint({
  id: 'evals.createDataset',
  audit: {
    type: 'governance.eval',
    action: 'eval_dataset.create',
    resource: ['eval_dataset', 'name'],
    severity: 'LOW',
  },
  method: 'post',
  path: '/api/v1/evals/datasets',
  summary: 'Create an evaluation dataset, or a version of one',
  description: 'A dataset is immutable: changed entries are another version.',
  access: writeDatasets,
  params: {},
  ...writing,
  body: shape<EvalDatasetBody>({
    required: { name: datasetName, version, description: description.default(''), entries },
  }),
  answer: { status: 201, body: datasetItem },
  errors: [invalid, 'eval_dataset_version_conflict', 'eval_dataset_too_large', 'eval_storage_full', 'overloaded'],
});

export const listDatasets = endpoint({
  id: 'evals.listDatasets',
  method: 'get',
  path: '/api/v1/evals/datasets',
  summary: 'Evaluation datasets, newest first',
  access: readDatasets,
  params: {},
  query: shape<EvalDatasetsQuery>({
    required: { limit: evalPage },
    optional: {
      name_prefix: Joi.string().max(64).description('Only names that begin with this.'),
      created_after: moment('Only datasets created at or after this time; RFC 3339, or ms since the epoch.'),
      created_before: moment('Only datasets created at or before this time.'),
      cursor: evalCursor,
    },
  }),
  answer: {
    status: 200,
    body: shape<{ items: EvalDatasetItem[]; next_cursor: string }>({
      required: { items: Joi.array().items(datasetItem), next_cursor: nextCursor },
    }),
  },
  errors: [],
});

export const getDataset = endpoint({
  id: 'evals.getDataset',
  method: 'get',
  path: '/api/v1/evals/datasets/:id',
  summary: 'Read an evaluation dataset',
  access: readDatasets,
  otherTenant: 'absent',
  params,
  answer: { status: 200, body: datasetView },
  errors: [missing, 'method_not_allowed'],
});

export const putDataset = endpoint({
  id: 'evals.putDataset',
  audit: { type: 'governance.eval', action: 'eval_dataset.put', resource: ['eval_dataset', 'id'], severity: 'LOW' },
  method: 'put',
  path: '/api/v1/evals/datasets/:id',
  summary: 'Create the next version of an evaluation dataset',
  access: writeDatasets,
  otherTenant: 'absent',
  params,
  ...writing,
  body: shape<EvalSuccessorBody>({
    required: { version, entries },
    optional: { description: description.description('Description; default: that of the dataset.') },
  }),
  answer: { status: 201, body: datasetItem },
  errors: [
    invalid, missing, 'eval_dataset_version_conflict', 'eval_dataset_too_large', 'eval_storage_full', 'overloaded',
    'method_not_allowed',
  ],
}); // prettier-ignore

/** A deletion must be confirmed. */
export interface ForceQuery {
  force: boolean;
}
export const forceQuery = shape<ForceQuery>({
  required: { force: flag(false).description('Must be true: the deletion is final.') },
});

export const removeDataset = endpoint({
  id: 'evals.removeDataset',
  audit: { type: 'governance.eval', action: 'eval_dataset.remove', resource: ['eval_dataset', 'id'], severity: 'LOW' },
  method: 'delete',
  path: '/api/v1/evals/datasets/:id',
  summary: 'Delete an evaluation dataset',
  description: 'Its runs remain readable until they expire.',
  access: removeDatasets,
  otherTenant: 'absent',
  params,
  query: forceQuery,
  answer: { status: 204 },
  errors: [missing, 'method_not_allowed'],
});

const nameParam = { name: Joi.string().max(64).description('Name of the dataset.') };

export const listVersions = endpoint({
  id: 'evals.listVersions',
  method: 'get',
  path: '/api/v1/evals/datasets/by-name/:name',
  summary: 'Versions of an evaluation dataset, newest first',
  access: readDatasets,
  otherTenant: 'absent',
  params: nameParam,
  answer: {
    status: 200,
    body: shape<{ items: EvalDatasetItem[] }>({ required: { items: Joi.array().items(datasetItem) } }),
  },
  errors: [missing],
});

export const getVersion = endpoint({
  id: 'evals.getVersion',
  method: 'get',
  path: '/api/v1/evals/datasets/by-name/:name/versions/:version',
  summary: 'Read a version of an evaluation dataset',
  access: readDatasets,
  otherTenant: 'absent',
  params: { ...nameParam, version: Joi.string().max(16).description('Version number.') },
  answer: { status: 200, body: datasetView },
  errors: [missing],
});

export const datasetEndpoints = [
  createDataset, listDatasets, getDataset, putDataset, removeDataset, listVersions, getVersion,
] as const; // prettier-ignore
