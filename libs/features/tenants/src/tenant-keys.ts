import { keys as shared, keyTable, type KeyName, type Keys } from '@svc/store';

/**
 * How the keys of a tenant are found. Keys whose name contains the tenant are found by their template; these tables cover the
 * others. A test stores every kind of record for two tenants and finds what is left of the deleted one.
 */

/** Named after the tenant, and kept: the proof of what happened, and that the tenant was deleted. */
const kept: ReadonlySet<KeyName> = new Set<KeyName>([
  ...(['tenant', 'auditChain', 'auditHead', 'auditState', 'auditLeaves', 'auditTiles'] as const),
  ...(['auditCheckpoints', 'auditTimestamps', 'legalHoldsOf'] as const),
]);

/** Hashes with a field `tenant`. Other keys are found through them, so they are removed last. */
export const hashOwners: ReadonlySet<KeyName> = new Set<KeyName>([
  ...(['job', 'run', 'workflow', 'schedule', 'agent', 'delegation', 'evalDataset', 'evalRun', 'effect'] as const),
  ...(['user', 'apiKey', 'session'] as const),
]);

/** JSON documents with a member `tenant`. */
export const documentOwners: ReadonlySet<KeyName> = new Set<KeyName>([
  ...(['artifactMeta', 'deadLetter', 'deadLetterKept'] as const),
]);

type Owner = (keys: Keys, id: string) => readonly string[];
const job: Owner = (keys, id) => [keys.job(id)];
const run: Owner = (keys, id) => [keys.run(id)];
const agent: Owner = (keys, id) => [keys.agent(id)];
const schedule: Owner = (keys, id) => [keys.schedule(id)];
const dataset: Owner = (keys, id) => [keys.evalDataset(id)];
/** A memory without an owner of its own is that of the job or run of the same name. */
const memory: Owner = (keys, id) => [keys.memoryOwner(id), keys.job(id), keys.run(id)];
/** Parts of a result have the id of the job as a prefix, and ids may contain colons. */
const result: Owner = (keys, name) => {
  const parts = name.split(':');
  return parts.map((_, i) => keys.job(parts.slice(0, parts.length - i).join(':')));
};
const effects: Owner = (keys, scope) =>
  scope.startsWith('job:') ? [keys.job(scope.slice(4))] : [keys.run(scope.slice(4).split(':')[0] ?? '')];

/** Keys that belong to another record, by the id that follows the first part of their template. */
export const parts: Readonly<Partial<Record<KeyName, Owner>>> = {
  jobEvents: job,
  context: (keys, id) => [keys.job(id), keys.run(id)],
  ...{ result, uploadedResult: result, redactedResult: result, effectsOf: effects },
  ...{ runSteps: run, runTimeline: run, runTimers: run, runInbox: run, runEvents: run, runLock: run },
  ...{ scheduleStarts: schedule, scheduleLock: schedule, schedulesOf: (keys, id) => [keys.workflow(id)] },
  sessionsOf: (_, owner) => (owner.startsWith('user:') ? [shared.user(owner.slice(5))] : []),
  agentJobs: agent,
  agentDay: (keys, name) => [keys.agent(name.slice(0, name.lastIndexOf(':')))],
  agentDenied: agent,
  delegationsBy: agent,
  delegationRate: (keys, name) => [keys.agent(name.slice(0, name.lastIndexOf(':')))],
  delegationChildren: (keys, id) => [keys.delegation(id)],
  ...{ evalEntries: dataset, evalRunsOf: dataset, evalLock: dataset },
  evalResult: (keys, id) => [keys.evalRun(id)],
  artifact: (keys, id) => [keys.artifactMeta(id)],
  messages: (keys, name) => memory(keys, name.replace(/:events$/, '')),
  messagesDropped: (keys, name) => memory(keys, name.replace(/:dropped$/, '')),
  memory,
};

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const pieces = (template: string): string[] => template.split(/(<\w+>)/);

/** Text of a template before its first part. */
export const prefixes: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(keyTable).map(([name, { template }]) => [name, pieces(template)[0] ?? '']),
);

/** A pattern of the keys that are named after a tenant. Names of tenants contain no colon. */
export function namedAfter(tenant: string): RegExp {
  const patterns = Object.entries(keyTable).flatMap(([name, { template }]) => {
    if (!template.includes('<tenant>') || kept.has(name as KeyName)) return [];
    let isAfter = false;
    const pattern = pieces(template).map((piece) => {
      if (!piece.startsWith('<')) return escape(piece);
      if (piece === '<tenant>') isAfter = true;
      if (piece === '<tenant>') return escape(tenant);
      return isAfter ? '.+' : '[^:]+';
    });
    return [pattern.join('')];
  });
  const accounts = `${escape(prefixes['spend'] ?? '')}(?:tenant|team|workflow):${escape(tenant)}:.+`;
  return new RegExp(`^(?:${[...patterns, accounts].join('|')})$`);
}
