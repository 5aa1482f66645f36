import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, text } from '../fields';
import type { Access } from '../permissions';
import { shape } from '../shape';

export const auditExportFormats = ['json', 'csv', 'cef', 'ocsf'] as const;
export type AuditExportFormat = (typeof auditExportFormats)[number];

/** What receives audit events continuously. */
export const auditExporterKinds = ['none', 'webhook', 'syslog', 'splunk', 'datadog'] as const;
export type AuditExporterKind = (typeof auditExporterKinds)[number];

/** Media types of the formats. */
export const auditExportTypes: Readonly<Record<AuditExportFormat, string>> = {
  json: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
  cef: 'text/plain; charset=utf-8',
  ocsf: 'application/x-ndjson',
};

const mayExport: Access = { permission: 'audit.export', roles: ['admin'] };
const read: Access = { permission: 'audit.read', roles: ['admin'] };
const entitled = 'tier_limit_exceeded' as const;

export interface AuditExportQuery {
  tenant?: string;
  format?: string;
  from?: string;
  to?: string;
  excel?: string;
  limit?: string;
  event_type?: string;
  severity?: string;
  category?: string;
}

const filter = (description: string) => Joi.string().allow('').max(256).description(description);

export const exportAudit = endpoint({
  id: 'audit.export',
  method: 'get',
  path: '/api/v1/audit/export',
  summary: 'Export the audit events of a tenant as a stream',
  description:
    'Begins with a manifest: the verification of the chain in this range, the policy bundles that were active and the newest signed checkpoint. Ends with a footer, or with an error line when the export could not be completed.',
  access: mayExport,
  entitledBy: ['audit_export', 'siem_export'],
  audit: { type: 'audit.export', action: 'audit.export', severity: 'MEDIUM' },
  params: {},
  query: shape<AuditExportQuery>({
    required: {},
    optional: {
      tenant: filter('Tenant of the chain; another than the caller’s needs cross-tenant access.'),
      format: filter(`${auditExportFormats.join(', ')}. Default json: NDJSON.`),
      from: filter('Begin, required; RFC 3339, or ms since the epoch.'),
      to: filter('End, required, at most 366 days later.'),
      excel: filter('true: CSV begins with a byte order mark.'),
      limit: filter('Number of events. Default and maximum: what the license permits.'),
      event_type: filter('Only events of this type.'),
      severity: filter('Only events of this severity.'),
      category: filter('governance or routine.'),
    },
  }),
  answer: {
    status: 200,
    stream: Object.values(auditExportTypes),
    headers: {
      'Content-Disposition': 'Name of the file.',
      'X-Svc-Export-Format': 'Format of the export.',
      'X-Svc-Tenant': 'Tenant of the chain.',
      'X-Svc-Export-Filter-Event-Type': 'The filter of the same name; likewise -Severity, -Category and -Limit.',
    },
  },
  errors: [
    'audit_limit_invalid',
    'audit_from_invalid',
    'audit_to_invalid',
    'audit_range_invalid',
    'audit_category_invalid',
    'audit_query_invalid',
    'tenant_access_denied',
    entitled,
  ],
});

/** State of the exporter. */
export interface AuditExportHealth {
  backend: AuditExporterKind;
  status: 'active' | 'disabled';
  entitled: boolean;
  /** Events of all tenants that are not exported yet. */
  pending?: number;
  /** Events that the receiver refused, of all tenants. */
  dead_letters?: number;
  /** Why the newest attempt failed; absent after a success. */
  last_error?: string;
  /** RFC 3339. */
  last_success_at?: string;
}

export const auditExportHealth = endpoint({
  id: 'audit.exportHealth',
  method: 'get',
  path: '/api/v1/audit/export/health',
  summary: 'State of the exporter of audit events',
  access: read,
  params: {},
  answer: {
    status: 200,
    body: shape<AuditExportHealth>({
      required: {
        backend: Joi.string<AuditExporterKind>()
          .valid(...auditExporterKinds)
          .description('Kind of the receiver.'),
        status: Joi.string<AuditExportHealth['status']>().valid('active', 'disabled'),
        entitled: Joi.boolean().description('Whether the license permits it.'),
      },
      optional: {
        pending: count('Events of all tenants that are not exported yet. Only for callers with cross-tenant access.'),
        dead_letters: count(
          'Events that the receiver refused, of all tenants. Only for callers with cross-tenant access.',
        ),
        last_error: text('Why the newest attempt failed; absent after a success.'),
        last_success_at: Joi.string().isoDate().description('Time of the newest delivery.'),
      },
    }),
  },
  errors: [],
  owner: 'installation',
});

/** Settings of the exporter without secrets; further fields depend on its kind. */
export interface AuditExportConfig {
  type: AuditExporterKind;
  entitled: boolean;
  retention?: 'unlimited';
  retention_days?: number;
  webhook_url?: string;
  webhook_hmac_enabled?: boolean;
  syslog_addr?: string;
  splunk_url?: string;
  splunk_index?: string;
  splunk_token_set?: boolean;
  datadog_url?: string;
  datadog_service?: string;
  datadog_api_key_set?: boolean;
}

export const auditExportConfig = endpoint({
  id: 'audit.exportConfig',
  method: 'get',
  path: '/api/v1/audit/export/config',
  summary: 'Settings of the exporter of audit events, without secrets',
  access: read,
  params: {},
  answer: {
    status: 200,
    body: shape<AuditExportConfig>({
      required: {
        type: Joi.string<AuditExporterKind>()
          .valid(...auditExporterKinds)
          .description('Kind of the receiver.'),
        entitled: Joi.boolean().description('Whether the license permits it.'),
      },
      optional: {
        retention: Joi.string<'unlimited'>().valid('unlimited').description('Present when events are kept for ever.'),
        retention_days: count('Days for which events are kept, rounded up.'),
        webhook_url: text('URL without user, password and query.'),
        webhook_hmac_enabled: Joi.boolean().description('Whether requests are signed.'),
        syslog_addr: text('Address of the receiver.'),
        splunk_url: text('URL without user, password and query.'),
        splunk_index: text('Index of the events.'),
        splunk_token_set: Joi.boolean().description('Whether a token is configured.'),
        datadog_url: text('URL without user, password and query.'),
        datadog_service: text('Name of the service.'),
        datadog_api_key_set: Joi.boolean().description('Whether a key is configured.'),
      },
    }),
  },
  errors: [],
  owner: 'installation',
});

export const testAuditExport = endpoint({
  id: 'audit.exportTest',
  method: 'post',
  path: '/api/v1/audit/export/test',
  summary: 'Send a test event to the receiver of audit events',
  access: read,
  entitledBy: ['siem_export'],
  audit: { type: 'system.test', action: 'audit.export_test', severity: 'INFO' },
  params: {},
  answer: {
    status: 200,
    body: shape<{ success: boolean; message: string }>({
      required: {
        success: Joi.boolean().description('Whether the receiver accepted the event.'),
        message: text('Result, or why the event was not delivered.'),
      },
    }),
  },
  errors: ['audit_exporter_missing', entitled],
});

export const auditExportEndpoints = [exportAudit, auditExportHealth, auditExportConfig, testAuditExport] as const;
