import { canBeNatsUser, workerAccount, workerImports, type WorkerImport } from '@svc/contract';
import type { AccessList } from './worker-secrets';

/** nats-server uses JSON escapes in double-quoted strings. */
const quote = (text: string) => JSON.stringify(text);

/**
 * The accounts of all workers with a credential, as text that the configuration of nats-server includes in `accounts`. Each
 * worker has an account of its own: replies and pulled messages arrive in inboxes, which every client may subscribe to, and
 * within one account workers would read those of each other.
 */
export const renderNatsAccounts = (workers: AccessList): string =>
  [
    '# Generated from the credentials of workers. Changes are overwritten.\n',
    ...[...workers]
      .filter(([id]) => canBeNatsUser(id))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, { natsHash }]) => renderAccount(id, natsHash)),
  ].join('');

function renderAccount(id: string, natsHash: string): string {
  const imports = workerImports(id);
  const publish = imports.filter(({ kind }) => kind === 'service').map(({ subject }) => subject);
  const read = imports.filter(({ kind }) => kind === 'stream').map(({ subject }) => subject);
  // Nothing is published on topics in this account; clients may subscribe to those that they serve.
  const subscribe = [...read, 'job.>', '_INBOX.>', `_INBOX_${id}.>`];
  const permissions = `{ publish: ${list(publish)}, subscribe: ${list(subscribe)} }`;
  const user = `{ user: ${quote(id)}, password: ${quote(natsHash)}, permissions: ${permissions} }`;
  return `${quote(workerAccount(id))} { users: [${user}], imports: [${imports.map(renderImport).join(', ')}] }\n`;
}

const list = (subjects: readonly string[]) => `[${subjects.map(quote).join(', ')}]`;

function renderImport({ kind, subject, services }: WorkerImport): string {
  const to = subject === services ? '' : `, to: ${quote(subject)}`;
  return `{ ${kind}: { account: SVC, subject: ${quote(services)} }${to} }`;
}
