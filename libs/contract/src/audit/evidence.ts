import Joi from 'joi';
import { endpoint } from '../endpoint';
import { shape } from '../shape';

export const evidenceKinds = ['job', 'run', 'agent', 'session'] as const;
export type EvidenceKind = (typeof evidenceKinds)[number];

export interface EvidenceBody {
  kind: EvidenceKind;
  id: string;
  tenant?: string;
  from?: string;
  to?: string;
  include_content: boolean;
}

export const createEvidence = endpoint({
  id: 'audit.evidence',
  method: 'post',
  path: '/api/v1/audit/evidence',
  summary: 'Create a signed evidence bundle about a job, run, agent or session',
  description:
    'A gzipped tar archive (.tgz): the audit events with their proofs, decisions, approvals, policies, and hashes of inputs and outputs. `npx svc-verify` verifies it without the service. Needs the entitlement audit_export.',
  access: { permission: 'audit.export', roles: ['admin'] },
  entitledBy: ['audit_export'],
  audit: { type: 'audit.export', action: 'audit.evidence', resource: ['evidence', 'id'] },
  params: {},
  body: shape<EvidenceBody>({
    required: {
      kind: Joi.string<EvidenceKind>()
        .valid(...evidenceKinds)
        .description('Kind of the subject.'),
      id: Joi.string().min(1).max(512).description('Id of the subject.'),
      include_content: Joi.boolean()
        .default(false)
        .description(
          'Include the content of inputs, outputs and policies, not only their hashes. Only for the role admin; withheld outputs are left out.',
        ),
    },
    optional: {
      tenant: Joi.string()
        .allow('')
        .max(512)
        .description('Tenant of the chain; another than the caller’s needs cross-tenant access.'),
      from: Joi.string()
        .allow('')
        .max(64)
        .description(
          'Only events from this time on; RFC 3339, or ms since the epoch. Default: since the job or run was created, 24 h ago for agents and sessions.',
        ),
      to: Joi.string()
        .allow('')
        .max(64)
        .description(
          'Only events up to this time. Default: one hour after the last change of an ended job or run, else now.',
        ),
    },
  }),
  answer: {
    status: 200,
    raw: true,
    body: Joi.binary().description('The archive.'),
    headers: {
      'Content-Disposition': 'File name of the archive.',
      'X-Svc-Evidence-Events': 'Number of audit events in the archive.',
      'X-Svc-Evidence-SHA256': 'SHA-256 of the archive, hex; the audit event of this request has it, too.',
    },
  },
  errors: [
    'audit_from_invalid',
    'audit_to_invalid',
    'audit_range_invalid',
    'audit_signing_unavailable',
    'audit_checkpoint_not_found',
    'evidence_subject_not_found',
    'evidence_too_large',
    'access_denied',
    'tenant_access_denied',
    'tier_limit_exceeded',
    'overloaded',
  ],
});

export const evidenceEndpoints = [createEvidence] as const;
