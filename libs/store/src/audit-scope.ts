import type { AuditAct } from '@svc/contract';
import { canonicalHash } from '@svc/json';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ScriptName } from './script-name';

/** The act of a request that is under way. The script that makes its change records it. */
export interface OpenAct {
  tenant: string;
  act: AuditAct;
  isRecorded: boolean;
  /** Tenant of the sensitive content that the request reads. */
  readsOf?: string;
}

const open = new AsyncLocalStorage<OpenAct>();

/**
 * Scripts that make the change of a request, and the first elements of their replies that mean a change. The act of the request
 * is recorded by the same call, so that neither exists without the other.
 */
const changes: Partial<Record<ScriptName, readonly string[]>> = {
  acquireLock: ['held'],
  createApiKey: ['created'],
  createRun: ['created'],
  endSessions: ['ended'],
  issueWorkerSession: ['issued'],
  move: ['moved'],
  note: ['noted'],
  postRun: ['posted'],
  releaseLock: ['held', 'freed'],
  removeDeadLetter: ['removed'],
  removeEvalDataset: ['removed'],
  removeExportLetter: ['removed'],
  removeRun: ['removed'],
  removeSchedule: ['removed'],
  removeSchema: ['removed'],
  removeWorkflow: ['removed'],
  renewLock: ['held'],
  replaceConfig: ['written'],
  revokeApiKey: ['revoked'],
  revokeWorkerCredential: ['revoked'],
  revokeWorkerSession: ['revoked'],
  settleEffect: ['settled'],
  settleQuarantine: ['settled'],
  writeEvalDataset: ['written'],
  writePolicy: ['written'],
  writeRoles: ['written'],
  writeSchedule: ['written'],
  writeSchema: ['created', 'replaced'],
  writeShadow: ['written'],
  writeWithPolicy: ['written'],
  writeWorkerCredential: ['created', 'replaced'],
  writeWorkflow: ['written'],
};

/** Runs a request whose change is recorded as this act. */
export const withAct = <T>(opened: OpenAct, run: () => Promise<T>): Promise<T> => open.run(opened, run);

/** Runs a change that a request causes but that is not its own, such as a migration: it does not record the act. */
export const outsideAct = <T>(run: () => Promise<T>): Promise<T> => open.exit(run);

/** Adds facts to the act of the request under way, before its change is made: ids, hashes, reasons. Never secrets. */
export function describeAct(
  more: Partial<Pick<AuditAct, 'reason' | 'decision' | 'job_id' | 'agent_id'>>,
  extra: Readonly<Record<string, string>> = {},
): void {
  const opened = open.getStore();
  if (opened) opened.act = { ...opened.act, ...more, extra: { ...opened.act.extra, ...extra } };
}

/**
 * Marks the request under way as a read of something sensitive, before it is refused or answered. An act of type
 * `governance.read` is recorded only if it is marked.
 *
 * @param tenant owner of what is read
 */
export function markSensitive(tenant: string, facts: Readonly<Record<string, string>> = {}): void {
  const opened = open.getStore();
  if (!opened) return;
  opened.readsOf = tenant;
  describeAct({}, facts);
}

/**
 * Adds the hashes of a written or removed content to the act of the request under way: SHA-256 of canonical JSON.
 *
 * @param before content that the writer has read and replaces by compare-and-set; undefined = none, or only the script knows it,
 * which then records its hash
 */
export function describeContent(after: unknown, before?: unknown): void {
  if (!open.getStore()) return;
  const [after_hash, before_hash] = [after, before].map((content) =>
    content === undefined ? '' : canonicalHash(content),
  );
  describeAct({}, { after_hash: after_hash ?? '', before_hash: before_hash ?? '' });
}

/** The act that a call of this script records, unless an earlier call has. */
export function findAct(name: ScriptName): { opened: OpenAct; when: readonly string[] } | undefined {
  const opened = open.getStore();
  const when = changes[name];
  return opened && when && !opened.isRecorded ? { opened, when } : undefined;
}
