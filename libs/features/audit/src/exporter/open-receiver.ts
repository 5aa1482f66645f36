import type { Origin } from '@svc/audit-formats';
import type { AuditExportConfig } from '@svc/contract';
import type { Clock } from '@svc/platform';
import { readSyslogAddress, StartError, type ApiEnv } from '@svc/runtime';
import { readFileSync } from 'node:fs';
import { datadogReceiver, shownUrl, splunkReceiver, webhookReceiver, type HttpReceiverDeps } from './http-receiver';
import type { Receiver } from './receiver';
import { syslogReceiver } from './syslog-receiver';

export type ReceiverEnv = Pick<
  ApiEnv,
  | 'auditExportType'
  | 'auditExportWebhookUrl'
  | 'auditExportWebhookSecret'
  | 'auditExportSyslogAddr'
  | 'auditExportSplunkUrl'
  | 'auditExportSplunkToken'
  | 'auditExportSplunkIndex'
  | 'auditExportDatadogUrl'
  | 'auditExportDatadogApiKey'
  | 'auditExportDatadogService'
  | 'auditExportCa'
  | 'production'
>;

/** Settings of a receiver that readers may see. */
export type ReceiverSettings = Omit<AuditExportConfig, 'type' | 'entitled' | 'retention' | 'retention_days'>;

/**
 * The receiver of audit events that the environment names, and its settings without secrets.
 *
 * @returns undefined when none is configured
 * @throws StartError when the file of authorities cannot be read
 */
export function openReceiver(
  env: ReceiverEnv,
  deps: { clock: Pick<Clock, 'nowMs'>; origin: Origin },
): { receiver: Receiver; settings: ReceiverSettings } | undefined {
  const ca = readAuthorities(env.auditExportCa);
  const http: HttpReceiverDeps = { ...deps, production: env.production, ...(ca !== undefined && { tls: { ca } }) };
  switch (env.auditExportType) {
    case 'none':
      return undefined;
    case 'webhook': {
      const { auditExportWebhookUrl: url = '', auditExportWebhookSecret: secret } = env;
      const settings = { webhook_url: shownUrl(url), webhook_hmac_enabled: secret !== undefined };
      return { receiver: webhookReceiver(http, url, secret), settings };
    }
    case 'syslog': {
      const text = env.auditExportSyslogAddr ?? '';
      const address = readSyslogAddress(text);
      // The rules of the environment refuse it before.
      if (!address) throw new Error('SVC_AUDIT_EXPORT_SYSLOG_ADDR is not an address');
      return { receiver: syslogReceiver({ ...address, ca, origin: deps.origin }), settings: { syslog_addr: text } };
    }
    case 'splunk': {
      const { auditExportSplunkUrl: url = '', auditExportSplunkToken: token = '', auditExportSplunkIndex: index } = env;
      const settings = {
        splunk_url: shownUrl(url),
        splunk_token_set: token !== '',
        ...(index !== undefined && { splunk_index: index }),
      };
      return { receiver: splunkReceiver(http, { url, token, index }), settings };
    }
    case 'datadog': {
      const { auditExportDatadogUrl: url, auditExportDatadogApiKey: apiKey = '', auditExportDatadogService } = env;
      const service = auditExportDatadogService;
      const settings = { datadog_url: shownUrl(url), datadog_service: service, datadog_api_key_set: apiKey !== '' };
      return { receiver: datadogReceiver(http, { url, apiKey, service }), settings };
    }
  }
}

/** @throws StartError */
function readAuthorities(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartError(
      `the receiver of audit events cannot be verified: ${why}`,
      'SVC_AUDIT_EXPORT_CA',
      'Name a file that can be read.',
    );
  }
}
