import Joi from 'joi';
import { endpoint } from '../endpoint';
import { strings, text } from '../fields';
import { shape } from '../shape';
import { bundleRecordView, type BundleRecordView } from './bundles';
import { policyRead, policyWrite, signedFields, time, type Signed } from './fields';

/** See docs/reference/policy.md#bundles. */
export interface SnapshotItem {
  id: string;
  created_at: string;
  note: string;
}
export interface SnapshotView extends SnapshotItem {
  bundles: Record<string, BundleRecordView>;
}

const snapshotItem = {
  id: text('Snapshot id: creation time and a prefix of the SHA-256 of its bundles.'),
  created_at: time('Creation time.'),
  note: text('Note.'),
};
const snapshotView = shape<SnapshotView>({
  required: { ...snapshotItem, bundles: Joi.object().pattern(/.*/, bundleRecordView).description('Bundles by id.') },
});
const note = text('Note.').max(2_048);
const snapshotId = Joi.string().min(1).max(128).description('Snapshot id.');

export const takeBundleSnapshot = endpoint({
  id: 'policy.takeSnapshot',
  method: 'post',
  path: '/api/v1/policy/bundles/snapshots',
  owner: 'installation',
  summary: 'Take a snapshot of all policy bundles',
  description: 'The newest 10 snapshots are kept, plus those referenced by a rollback of the last 24 hours.',
  access: policyWrite,
  audit: { type: 'safety.policy_change', action: 'snapshot.take', severity: 'LOW' },
  params: {},
  body: shape<{ note: string }>({ required: { note: note.default('') } }),
  bodyOptional: true,
  answer: { status: 200, body: snapshotView },
  errors: [],
});

export const listBundleSnapshots = endpoint({
  id: 'policy.listSnapshots',
  method: 'get',
  path: '/api/v1/policy/bundles/snapshots',
  owner: 'installation',
  summary: 'Snapshots of the policy bundles, newest first',
  access: policyRead,
  params: {},
  answer: {
    status: 200,
    body: shape<{ items: SnapshotItem[] }>({
      required: { items: Joi.array().items(shape<SnapshotItem>({ required: snapshotItem })) },
    }),
  },
  errors: [],
});

export const getBundleSnapshot = endpoint({
  id: 'policy.getSnapshot',
  method: 'get',
  path: '/api/v1/policy/bundles/snapshots/:snapshot_id',
  owner: 'installation',
  summary: 'Read a snapshot with its bundles',
  access: policyRead,
  params: { snapshot_id: snapshotId },
  answer: { status: 200, body: snapshotView },
  errors: ['snapshot_not_found'],
});

export interface PublishBody extends Signed {
  bundle_ids?: string[];
  note: string;
}
export interface PublishView {
  snapshot_before: string;
  snapshot_after: string;
  published: string[];
}
const snapshots = {
  snapshot_before: text('Snapshot before the change.'),
  snapshot_after: text('Snapshot after the change.'),
};
const conflicts = ['policy_version_conflict', 'policy_signing_required'] as const;

export const publishBundles = endpoint({
  id: 'policy.publish',
  method: 'post',
  path: '/api/v1/policy/publish',
  owner: 'installation',
  summary: 'Publish draft bundles',
  description: 'All named bundles take effect atomically. Snapshots are taken before and after the change.',
  access: policyWrite,
  audit: { type: 'safety.policy_change', action: 'policy.publish', severity: 'HIGH' },
  params: {},
  body: shape<PublishBody>({
    required: { note: note.default('') },
    optional: {
      ...signedFields,
      bundle_ids: strings('Bundles of secops/ or velocity/; all of secops/ when omitted.').max(1_000),
    },
  }),
  bodyOptional: true,
  answer: {
    status: 200,
    body: shape<PublishView>({ required: { ...snapshots, published: strings('Published bundles.') } }),
  },
  errors: ['policy_validation_failed', 'bundle_not_writable', ...conflicts],
});

export interface RollbackBody extends Signed {
  snapshot_id: string;
  note: string;
}
export interface RollbackView {
  snapshot_before: string;
  snapshot_after: string;
  rollback_to: string;
}

export const rollBackBundles = endpoint({
  id: 'policy.rollback',
  method: 'post',
  path: '/api/v1/policy/rollback',
  owner: 'installation',
  summary: 'Roll the bundles back to a snapshot',
  description:
    'Restores bundles of secops/ and velocity/ and deletes those that the snapshot does not contain; bundles of packs, workflows, sessions and jobs are unchanged. Restored bundles are validated and signed again.',
  access: policyWrite,
  audit: { type: 'safety.policy_change', action: 'policy.rollback', severity: 'HIGH' },
  params: {},
  body: shape<RollbackBody>({
    required: { snapshot_id: snapshotId, note: note.default('') },
    optional: signedFields,
  }),
  answer: {
    status: 200,
    body: shape<RollbackView>({ required: { ...snapshots, rollback_to: text('Restored snapshot.') } }),
  },
  errors: ['snapshot_not_found', 'policy_validation_failed', 'tier_limit_exceeded', ...conflicts],
});

export const publishingEndpoints = [
  takeBundleSnapshot,
  listBundleSnapshots,
  getBundleSnapshot,
  publishBundles,
  rollBackBundles,
] as const;
