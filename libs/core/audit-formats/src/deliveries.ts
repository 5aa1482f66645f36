import type { AuditSeverity } from '@svc/contract';
import { eventJson, readFacts, type StoredText } from './event-text';

/** RFC 5424, facility 13: log audit. */
const FACILITY = 13;
const syslogLevels: Readonly<Record<AuditSeverity, number>> = { CRITICAL: 2, HIGH: 3, MEDIUM: 4, LOW: 5, INFO: 6 };
const datadogLevels: Readonly<Record<AuditSeverity, string>> = {
  CRITICAL: 'critical',
  HIGH: 'error',
  MEDIUM: 'warn',
  LOW: 'notice',
  INFO: 'info',
};

/** Where events come from, as receivers show it. */
export interface Origin {
  host: string;
  /** Process id or instance id. */
  process: string;
}

/** A JSON array of events. */
export const webhookBody = (events: readonly StoredText[]): string =>
  `[${events.map((event) => eventJson(event)).join(',')}]`;

/** An RFC 5424 message with its length, as RFC 6587 frames it (octet counting): `<length> <message>`. */
export function syslogFrame(event: StoredText, { host, process }: Origin): string {
  const { type, severity } = readFacts(event.text);
  const priority = FACILITY * 8 + (syslogLevels[severity] ?? 6);
  const head = `<${priority}>1 ${readTimestamp(event.text)} ${printable(host, 255)} svc-control-plane ${printable(process, 128)} ${printable(type, 32)} -`;
  const message = `${head} ${eventJson(event)}`;
  return `${Buffer.byteLength(message)} ${message}`;
}

/** Events for the HTTP Event Collector of Splunk, one JSON object after the other. */
export const splunkBody = (events: readonly StoredText[], { host }: Origin, index: string | undefined): string =>
  events
    .map((event) => {
      const seconds = (Date.parse(readTimestamp(event.text)) / 1_000).toFixed(3);
      const place = JSON.stringify({
        host,
        source: 'svc-control-plane',
        sourcetype: 'svc:audit',
        ...(index && { index }),
      });
      return `{"time":${seconds},${place.slice(1, -1)},"event":${eventJson(event)}}`;
    })
    .join('\n');

/** Events for the logs intake of Datadog: a JSON array. */
export const datadogBody = (events: readonly StoredText[], { host }: Origin, service: string): string =>
  `[${events
    .map((event) => {
      const { type, action, severity } = readFacts(event.text);
      const head = JSON.stringify({
        ddsource: 'svc-control-plane',
        service,
        hostname: host,
        status: datadogLevels[severity] ?? 'info',
        timestamp: readTimestamp(event.text),
        message: `${type} ${action}`,
      });
      return `${head.slice(0, -1)},"audit":${eventJson(event)}}`;
    })
    .join(',')}]`;

/** The last field of the canonical text. */
const readTimestamp = (text: string): string => text.slice(text.lastIndexOf('"timestamp":"') + 13, -2);

const printable = (text: string, maxChars: number): string =>
  text.replace(/[^\x21-\x7e]/g, '_').slice(0, maxChars) || '-';
