import type { TopicEvents } from './topic-deps';

interface Log {
  warn(message: string, fields?: Record<string, unknown>): void;
  oncePer(key: string, periodMs: number): Log;
}

const periodMs = 60_000;

/** Log lines for topic events; one that every job of a topic repeats is logged once a minute. */
export const topicLog = (log: Log): TopicEvents => ({
  deprecatedTopic: (topic, tenant) =>
    log.oncePer(`deprecated:${tenant}:${topic}`, periodMs).warn('job for a deprecated topic', { topic, tenant }),
  schemaMismatch: ({ jobId, what, schemaId, message, ...fields }) =>
    log
      .oncePer(`mismatch:${fields.tenant}:${fields.topic}:${what}`, periodMs)
      .warn(`${what} does not match its schema`, { ...fields, job_id: jobId, schema: schemaId, reason: message }),
  topicFaults: (keys) => log.warn('invalid topic registrations were ignored', { keys: keys.slice(0, 20) }),
});
