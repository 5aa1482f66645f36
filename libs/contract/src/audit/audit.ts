import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, strings, stringMap, text } from '../fields';
import type { Access } from '../permissions';
import { shape } from '../shape';
import { auditSeverities, type AuditEvent, type AuditSeverity } from './event';

const read: Access = { permission: 'audit.read', roles: ['admin'] };
const verify: Access = { permission: 'audit.verify', roles: ['admin'] };
const hash = (description: string) => Joi.string().hex().length(64).description(description);
const time = (description: string) => Joi.string().isoDate().description(description);

/** Event of the chain as clients read it. */
export interface AuditEventView extends Omit<AuditEvent, 'event_type'> {
  /** Of this version or a newer one. */
  event_type: string;
  /** Position in the chain: `<ms>-<seq>`. */
  id: string;
}

export const auditEventView = shape<AuditEventView>({
  required: {
    id: text('Position of the event, `<ms>-<seq>`.'),
    seq: count('Sequence number in the chain of the tenant, from 1.'),
    timestamp: text('Time of the act, RFC 3339.'),
    event_type: text('Type of the event.'),
    action: text('What was done.'),
    severity: Joi.string<AuditSeverity>().valid(...auditSeverities),
    tenant_id: text('Tenant of the chain.'),
    event_hash: hash('SHA-256 of the canonical JSON (RFC 8785) of the event without `id`, `event_hash` and `hmac`.'),
  },
  optional: {
    prev_hash: hash('event_hash of the event before; absent for the first.'),
    hmac: hash('HMAC-SHA256 of the same bytes, with the key of the installation.'),
    identity: text('Who acted: a principal, or the identity of a credential.'),
    agent_id: text('Agent that acted.'),
    agent_name: text('Name of the agent.'),
    agent_risk_tier: text('Risk tier of the agent.'),
    job_id: text('Job of the event.'),
    decision: text('Decision of policy.'),
    matched_rule: text('Rule that matched.'),
    reason: text('Reason.'),
    risk_tags: strings('Risk tags of the job.'),
    capabilities: strings('Capabilities of the job.'),
    policy_version: text('Policy snapshot of the decision.'),
    extra: stringMap('Further facts, such as request_id, run_id or resource_id.'),
  },
});

export interface AuditEventsQuery {
  tenant?: string;
  limit?: string;
  cursor?: string;
  event_type?: string;
  severity?: string;
  category?: string;
  from?: string;
  to?: string;
  search?: string;
  job_id?: string;
  run_id?: string;
  agent_id?: string;
  action?: string;
  identity?: string;
}

const filter = (description: string) => Joi.string().allow('').max(512).description(description);

export const auditEvents = endpoint({
  id: 'audit.events',
  method: 'get',
  path: '/api/v1/audit/events',
  summary: 'Audit events of a tenant, newest first',
  description:
    'Contains everything that was recorded before the request. Reads are recorded themselves as SVC_AUDIT_READ_SAMPLE_RATE says.',
  access: read,
  params: {},
  query: shape<AuditEventsQuery>({
    required: {},
    optional: {
      tenant: filter('Tenant of the chain; another than the caller’s needs cross-tenant access.'),
      limit: filter('Number of events, at most 200. Default 100.'),
      cursor: filter('next_cursor of the page before.'),
      event_type: filter('Only events of this type.'),
      severity: filter('Only events of this severity.'),
      category: filter('governance or routine.'),
      from: filter('Only events from this time on; RFC 3339, or ms since the epoch.'),
      to: filter('Only events up to this time.'),
      search: filter('Only events that contain this text, case-insensitively; at most 200 characters.'),
      job_id: filter('Only events of this job.'),
      run_id: filter('Only events of this run.'),
      agent_id: filter('Only events of this agent.'),
      action: filter('Only events with this action.'),
      identity: filter('Only acts of this principal or credential.'),
    },
  }),
  answer: {
    status: 200,
    body: shape<{ items: AuditEventView[]; next_cursor: string; returned: number }>({
      required: {
        items: Joi.array().items(auditEventView),
        next_cursor: text('Cursor of the next page; empty at the end.').allow(''),
        returned: count('Number of events in this page.'),
      },
    }),
  },
  errors: [
    'audit_cursor_invalid',
    'audit_limit_invalid',
    'audit_from_invalid',
    'audit_to_invalid',
    'audit_range_invalid',
    'audit_category_invalid',
    'audit_query_invalid',
    'tenant_access_denied',
  ],
});

export interface AuditGapView {
  at_seq: number;
  type: string;
}

export interface AuditVerification {
  tenant_id: string;
  status: 'ok' | 'partial' | 'compromised';
  total_events: number;
  verified_events: number;
  gaps: AuditGapView[];
  retention_boundary_seq: number;
  /** Absent = events are kept for ever. */
  retention_window_hours?: number;
  first_seq: number;
  last_seq: number;
  hmac_verified: number;
  hmac_skipped: number;
  hmac_seen: number;
  /** The newest event that a checkpoint or anchor outside of the chain covers; 0 = none. */
  anchored_seq: number;
  /** Number of checkpoints and anchors that were compared. */
  anchors_checked: number;
}

export const auditVerification = shape<AuditVerification>({
  required: {
    tenant_id: text('Tenant of the chain.'),
    status: Joi.string<AuditVerification['status']>()
      .valid('ok', 'partial', 'compromised')
      .description(
        'compromised: the chain was changed. partial: nothing is wrong, but retention removed events or HMACs could not be checked.',
      ),
    total_events: count('Number of events that were read.'),
    verified_events: count('Number of events without a fault.'),
    gaps: Joi.array()
      .items(
        shape<AuditGapView>({ required: { at_seq: count('First affected event.'), type: text('Kind of the fault.') } }),
      )
      .description('Faults, oldest first, at most 1,000.'),
    retention_boundary_seq: count('The newest event that retention removed; 0 = none.'),
    first_seq: count('The first event that was read; 0 = none.'),
    last_seq: count('The last event that was read; 0 = none.'),
    hmac_verified: count('Number of events with a valid HMAC.'),
    hmac_skipped: count('Number of events whose HMAC was not checked, because there is no key.'),
    hmac_seen: count('Number of events with an HMAC.'),
    anchored_seq: count(
      'The newest event that a signed checkpoint or an anchor covers; 0 = none. Events after it are protected by the chain only.',
    ),
    anchors_checked: count('Number of checkpoints and anchors that were compared.'),
  },
  optional: {
    retention_window_hours: count('Hours for which events are kept; absent = for ever.'),
  },
});

export interface AuditVerifyQuery {
  tenant?: string;
  since?: string;
  until?: string;
  limit?: string;
}

export const verifyAudit = endpoint({
  id: 'audit.verify',
  method: 'get',
  path: '/api/v1/audit/verify',
  summary: 'Verify the audit chain of a tenant',
  description:
    'Recomputes hashes, links, sequence numbers and HMACs, and compares them with the head, the signed checkpoints and the anchors. The first fault names the first event that was changed, removed or added.',
  access: verify,
  params: {},
  query: shape<AuditVerifyQuery>({
    required: {},
    optional: {
      tenant: filter('Tenant of the chain; another than the caller’s needs cross-tenant access.'),
      since: filter('Only events from this time on, ms since the epoch; at most 30 days before until.'),
      until: filter('Only events up to this time, ms since the epoch.'),
      limit: filter('Number of events, at most 100,000. Default 10,000; without since, the newest.'),
    },
  }),
  answer: { status: 200, body: auditVerification },
  errors: [
    'audit_limit_invalid',
    'audit_from_invalid',
    'audit_to_invalid',
    'audit_range_invalid',
    'tenant_access_denied',
  ],
});

export interface CheckpointView {
  installation: string;
  tenant_id: string;
  seq: number;
  event_hash: string;
  merkle_root: string;
  at: string;
  key_id: string;
  signature: string;
}

export const checkpointView = shape<CheckpointView>({
  required: {
    installation: text('Id of the installation.'),
    tenant_id: text('Tenant of the chain.'),
    seq: count('Number of events that it commits to.'),
    event_hash: hash('event_hash of the newest of them.'),
    merkle_root: hash('Root of the Merkle tree (RFC 6962) over their hashes.'),
    at: time('Time of the checkpoint.'),
    key_id: text('First 16 hex digits of the SHA-256 of the public key.'),
    signature: text('Ed25519 over the canonical JSON of the other fields, base64url.'),
  },
});

export const listCheckpoints = endpoint({
  id: 'audit.checkpoints',
  method: 'get',
  path: '/api/v1/audit/checkpoints',
  summary: 'Signed checkpoints of the audit chain, newest first',
  access: read,
  params: {},
  query: shape<{ tenant?: string; limit?: number }>({
    required: {},
    optional: {
      tenant: filter('Tenant of the chain; another than the caller’s needs cross-tenant access.'),
      limit: Joi.number().integer().min(1).max(1_000).description('Number of checkpoints. Default 100.'),
    },
  }),
  answer: {
    status: 200,
    body: shape<{ items: CheckpointView[]; public_key: string }>({
      required: {
        items: Joi.array().items(checkpointView),
        public_key: text(
          'Public key (PEM) that verifies new checkpoints; empty when checkpoints are not signed.',
        ).allow(''),
      },
    }),
  },
  errors: ['tenant_access_denied'],
});

/** A checkpoint that a time-stamp authority has signed (RFC 3161). */
export interface AuditTimestamp {
  seq: number;
  /** Time of the authority, RFC 3339. */
  at: string;
  /** TimeStampToken (DER) in base64. */
  token: string;
  /** Absent when it is no longer kept. */
  checkpoint?: CheckpointView;
}

export const listAuditTimestamps = endpoint({
  id: 'audit.timestamps',
  method: 'get',
  path: '/api/v1/audit/timestamps',
  summary: 'Time-stamp tokens of checkpoints, newest first',
  description:
    'Tokens of the authority SVC_AUDIT_ANCHOR_TSA_URL over the canonical JSON (RFC 8785) of the checkpoint. openssl ts -verify -token_in verifies them.',
  access: read,
  params: {},
  query: shape<{ tenant?: string; limit?: number; before?: number }>({
    required: {},
    optional: {
      tenant: filter('Tenant of the chain; another than the caller’s needs cross-tenant access.'),
      limit: Joi.number().integer().min(1).max(1_000).description('Number of tokens. Default 100.'),
      before: Joi.number().integer().min(1).description('Only of checkpoints with a lower sequence number.'),
    },
  }),
  answer: {
    status: 200,
    body: shape<{ items: AuditTimestamp[] }>({
      required: {
        items: Joi.array().items(
          shape<AuditTimestamp>({
            required: {
              seq: count('Sequence number of the checkpoint.'),
              at: Joi.string().isoDate().description('Time of the authority.'),
              token: Joi.string().base64().description('TimeStampToken (DER) in base64.'),
            },
            optional: { checkpoint: checkpointView },
          }),
        ),
      },
    }),
  },
  errors: ['tenant_access_denied'],
});

export interface AuditProof {
  event: AuditEventView;
  leaf_index: number;
  tree_size: number;
  /** Hex, from the leaf upwards. */
  audit_path: string[];
  checkpoint: CheckpointView;
}

export const proveAuditEvent = endpoint({
  id: 'audit.proof',
  method: 'get',
  path: '/api/v1/audit/events/:seq/proof',
  summary: 'Prove that an event is in the audit chain',
  description:
    'The inclusion proof of RFC 6962 from the event to a signed checkpoint: it can be verified without the other events.',
  access: read,
  params: {
    seq: Joi.string()
      .pattern(/^[1-9]\d{0,14}$/)
      .messages({ 'string.pattern.base': '{{#label}} must be a sequence number' })
      .description('Sequence number of the event.'),
  },
  query: shape<{ tenant?: string; tree_size?: number }>({
    required: {},
    optional: {
      tenant: filter('Tenant of the chain; another than the caller’s needs cross-tenant access.'),
      tree_size: Joi.number()
        .integer()
        .min(1)
        .description('Size of the checkpoint to prove against; default the newest.'),
    },
  }),
  otherTenant: 'absent',
  answer: {
    status: 200,
    body: shape<AuditProof>({
      required: {
        event: auditEventView,
        leaf_index: count('Position of the leaf, from 0.'),
        tree_size: count('Size of the tree.'),
        audit_path: Joi.array().items(Joi.string().hex().length(64)).description('Hashes from the leaf upwards.'),
        checkpoint: checkpointView,
      },
    }),
  },
  errors: ['audit_event_not_found', 'audit_checkpoint_not_found', 'tenant_access_denied'],
});

export interface AuditConsistency {
  first: CheckpointView;
  second: CheckpointView;
  proof: string[];
}

export const proveAuditConsistency = endpoint({
  id: 'audit.consistency',
  method: 'get',
  path: '/api/v1/audit/consistency',
  summary: 'Prove that a later state of the audit chain only added events',
  description: 'The consistency proof of RFC 6962 between two checkpoints.',
  access: read,
  params: {},
  query: shape<{ tenant?: string; first: number; second?: number }>({
    required: { first: Joi.number().integer().min(1).required().description('Size of the earlier checkpoint.') },
    optional: {
      tenant: filter('Tenant of the chain; another than the caller’s needs cross-tenant access.'),
      second: Joi.number().integer().min(1).description('Size of the later checkpoint; default the newest.'),
    },
  }),
  answer: {
    status: 200,
    body: shape<AuditConsistency>({
      required: {
        first: checkpointView,
        second: checkpointView,
        proof: Joi.array().items(Joi.string().hex().length(64)).description('Hashes of the proof.'),
      },
    }),
  },
  errors: ['audit_query_invalid', 'audit_checkpoint_not_found', 'tenant_access_denied'],
});

export const auditEndpoints = [
  auditEvents,
  verifyAudit,
  listCheckpoints,
  listAuditTimestamps,
  proveAuditEvent,
  proveAuditConsistency,
] as const;
