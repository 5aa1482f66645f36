import Joi from 'joi';
import { endpoint } from '../endpoint';
import { text } from '../fields';
import type { Access } from '../permissions';
import { shape } from '../shape';
import { auditEventView, type AuditEventView } from './audit';

const read: Access = { permission: 'audit.read', roles: ['admin'] };
const mayExport: Access = { permission: 'audit.export', roles: ['admin'] };
const path = '/api/v1/audit/export/dead-letters';
const letterId = Joi.string()
  .pattern(/^\d{1,16}-\d{1,16}$/)
  .messages({ 'string.pattern.base': '{{#label}} must be the id of a dead letter' })
  .description('Id of the dead letter.');

/** An event that the receiver of the exporter refused. */
export interface AuditDeadLetter {
  id: string;
  tenant: string;
  /** When it was put aside, RFC 3339. */
  at: string;
  reason: string;
  event: AuditEventView;
}

export interface ListAuditDeadLettersQuery {
  limit: number;
  tenant?: string;
  cursor?: string;
}

export const listAuditDeadLetters = endpoint({
  id: 'audit.deadLetters',
  method: 'get',
  path,
  summary: 'Audit events that the receiver of the exporter refused, newest first',
  description: 'Those of the caller’s tenant; callers with cross-tenant access get those of all tenants.',
  access: read,
  params: {},
  query: shape<ListAuditDeadLettersQuery>({
    required: { limit: Joi.number().integer().min(1).max(500).default(100).description('Page size.') },
    optional: {
      tenant: text('Only events of this tenant; another than the caller’s needs cross-tenant access.').max(256),
      cursor: letterId.description('next_cursor of the page before.'),
    },
  }),
  answer: {
    status: 200,
    body: shape<{ items: AuditDeadLetter[]; next_cursor: string }>({
      required: {
        items: Joi.array().items(
          shape<AuditDeadLetter>({
            required: {
              id: letterId,
              tenant: text('Tenant of the event.'),
              at: Joi.string().isoDate().description('When it was put aside.'),
              reason: text('Why the receiver refused it.').allow(''),
              event: auditEventView,
            },
          }),
        ),
        next_cursor: text('Cursor of the next page; empty at the end.').allow(''),
      },
    }),
  },
  errors: ['tenant_access_denied'],
});

export const retryAuditDeadLetter = endpoint({
  id: 'audit.retryDeadLetter',
  method: 'post',
  path: `${path}/:id/retry`,
  summary: 'Deliver a refused audit event again',
  description:
    'When the receiver accepts the event, it leaves the dead letters; else it remains. The receiver gets it out of order, and twice when two calls retry it at once: event_hash identifies a repetition.',
  access: mayExport,
  entitledBy: ['siem_export'],
  audit: { type: 'audit.export', action: 'audit.dead_letter_retry', resource: ['audit_dead_letter', 'id'] },
  params: { id: letterId },
  otherTenant: 'absent',
  answer: {
    status: 200,
    body: shape<{ success: boolean; message: string }>({
      required: {
        success: Joi.boolean().description('Whether the receiver accepted the event.'),
        message: text('Result, or why the event was not delivered.'),
      },
    }),
  },
  errors: ['audit_dead_letter_not_found', 'audit_exporter_missing', 'tier_limit_exceeded'],
});

export const discardAuditDeadLetter = endpoint({
  id: 'audit.discardDeadLetter',
  method: 'delete',
  path: `${path}/:id`,
  summary: 'Discard a refused audit event; it stays in the audit chain',
  access: mayExport,
  audit: { type: 'audit.export', action: 'audit.dead_letter_discard', resource: ['audit_dead_letter', 'id'] },
  params: { id: letterId },
  otherTenant: 'absent',
  answer: { status: 204 },
  errors: ['audit_dead_letter_not_found'],
});

export const auditDeadLetterEndpoints = [listAuditDeadLetters, retryAuditDeadLetter, discardAuditDeadLetter] as const;
