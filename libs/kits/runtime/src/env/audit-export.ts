import { auditExporterKinds } from '@svc/contract';
import { variables, type EnvOf, type Rule } from './declare';
import type { Problem } from './problem';
import { needed } from './rules';

/** Of the processes that export audit events: the engine, and the gateway for tests of the exporter. */
export const auditExportVariables = variables({
  auditExportType: {
    name: 'SVC_AUDIT_EXPORT_TYPE',
    type: 'enum',
    choices: auditExporterKinds,
    default: 'none',
    doc: 'Receiver of all audit events: webhook, syslog, splunk (HTTP Event Collector) or datadog (logs intake). Needs a license with siem_export.',
  },
  auditExportWebhookUrl: {
    name: 'SVC_AUDIT_EXPORT_WEBHOOK_URL',
    type: 'url',
    secret: true,
    doc: 'Receives events as JSON arrays of at most 100. A user and password in it are sent as Basic credentials.',
  },
  auditExportWebhookSecret: {
    name: 'SVC_AUDIT_EXPORT_WEBHOOK_SECRET',
    type: 'string',
    secret: true,
    doc: 'Signs the requests to the webhook: X-Svc-Signature, and the headers of Standard Webhooks.',
  },
  auditExportSyslogAddr: {
    name: 'SVC_AUDIT_EXPORT_SYSLOG_ADDR',
    type: 'string',
    doc: 'Syslog receiver: `tls://<host>:<port>` or `tcp://<host>:<port>`. Port 6514 by default, 514 for tcp.',
  },
  auditExportSplunkUrl: {
    name: 'SVC_AUDIT_EXPORT_SPLUNK_URL',
    type: 'url',
    doc: 'URL of the HTTP Event Collector, such as https://splunk.example.com:8088/services/collector/event.',
  },
  auditExportSplunkToken: {
    name: 'SVC_AUDIT_EXPORT_SPLUNK_TOKEN',
    type: 'string',
    secret: true,
    doc: 'Token of the HTTP Event Collector.',
  },
  auditExportSplunkIndex: {
    name: 'SVC_AUDIT_EXPORT_SPLUNK_INDEX',
    type: 'string',
    doc: 'Index of the events. Default: that of the token.',
  },
  auditExportDatadogUrl: {
    name: 'SVC_AUDIT_EXPORT_DATADOG_URL',
    type: 'url',
    default: 'https://http-intake.logs.datadoghq.com/api/v2/logs',
    doc: 'Logs intake of the Datadog site.',
  },
  auditExportDatadogApiKey: {
    name: 'SVC_AUDIT_EXPORT_DATADOG_API_KEY',
    type: 'string',
    secret: true,
    doc: 'API key of Datadog.',
  },
  auditExportDatadogService: {
    name: 'SVC_AUDIT_EXPORT_DATADOG_SERVICE',
    type: 'string',
    default: 'svc-control-plane',
    doc: 'Service of the events in Datadog.',
  },
  auditExportCa: {
    name: 'SVC_AUDIT_EXPORT_CA',
    type: 'path',
    doc: 'Certificate authorities (PEM) that verify the receiver, instead of those of the system.',
  },
  auditExportMaxRetries: {
    name: 'SVC_AUDIT_EXPORT_MAX_RETRIES',
    type: 'int',
    min: 0,
    max: 10,
    default: '3',
    doc: 'Retries of a request, after 1, 2, 4 s and so on. Then an event that the receiver refuses is put into the dead letters; while the receiver is unavailable, the exporter continues every 30 s.',
  },
  auditAnchorWebhookUrl: {
    name: 'SVC_AUDIT_ANCHOR_WEBHOOK_URL',
    type: 'url',
    secret: true,
    doc: 'Receives the newest checkpoint of each audit chain as JSON, at the interval of checkpoints. Needs a signing key.',
  },
  auditAnchorWebhookSecret: {
    name: 'SVC_AUDIT_ANCHOR_WEBHOOK_SECRET',
    type: 'string',
    secret: true,
    doc: 'Signs the requests with checkpoints, like SVC_AUDIT_EXPORT_WEBHOOK_SECRET.',
  },
  auditAnchorTsaUrl: {
    name: 'SVC_AUDIT_ANCHOR_TSA_URL',
    type: 'url',
    doc: 'Time-stamp authority (RFC 3161) that signs the newest checkpoint of each audit chain. Needs a signing key.',
  },
  auditAnchorTsaCa: {
    name: 'SVC_AUDIT_ANCHOR_TSA_CA',
    type: 'path',
    doc: 'Certificate authorities (PEM) of the time-stamp authority. Without it, the signatures of its tokens are kept but not verified.',
  },
  soc2MappingPath: {
    name: 'SVC_SOC2_MAPPING_PATH',
    type: 'path',
    doc: 'JSON file that replaces the mapping of audit events to controls in exports.',
  },
});

type ExportEnv = EnvOf<typeof auditExportVariables>;

/** A receiver without its address would export nothing. */
export const auditExportRules: Rule<ExportEnv> = (env): Problem[] => {
  const type = env.auditExportType;
  const because = `SVC_AUDIT_EXPORT_TYPE is ${type}`;
  return [
    ...needed(type === 'webhook', 'SVC_AUDIT_EXPORT_WEBHOOK_URL', env.auditExportWebhookUrl, because),
    ...needed(
      type === 'webhook' && env.production,
      'SVC_AUDIT_EXPORT_WEBHOOK_SECRET',
      env.auditExportWebhookSecret,
      because,
    ),
    ...needed(type === 'syslog', 'SVC_AUDIT_EXPORT_SYSLOG_ADDR', env.auditExportSyslogAddr, because),
    ...needed(type === 'splunk', 'SVC_AUDIT_EXPORT_SPLUNK_URL', env.auditExportSplunkUrl, because),
    ...needed(type === 'splunk', 'SVC_AUDIT_EXPORT_SPLUNK_TOKEN', env.auditExportSplunkToken, because),
    ...needed(type === 'datadog', 'SVC_AUDIT_EXPORT_DATADOG_API_KEY', env.auditExportDatadogApiKey, because),
    ...syslogProblems(env.auditExportSyslogAddr),
  ];
};

/** `tls://host:port`, `tcp://host:port`; the port may be absent. @returns undefined when it is neither */
export function readSyslogAddress(text: string): { host: string; port: number; tls: boolean } | undefined {
  const [, scheme, bracketed, plain, port] =
    /^(tls|tcp):\/\/(?:\[([0-9a-fA-F:]{2,45})\]|([A-Za-z0-9_.-]{1,253}))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (scheme === undefined || host === undefined) return undefined;
  const tls = scheme === 'tls';
  const number = port === undefined ? (tls ? 6_514 : 514) : Number(port);
  return number > 0 && number < 65_536 ? { host, port: number, tls } : undefined;
}

function syslogProblems(text: string | undefined): Problem[] {
  if (text === undefined || readSyslogAddress(text)) return [];
  return [
    {
      name: 'SVC_AUDIT_EXPORT_SYSLOG_ADDR',
      given: text,
      expected: 'tls://<host>:<port> or tcp://<host>:<port>',
      fix: 'Name the receiver with its scheme.',
    },
  ];
}
