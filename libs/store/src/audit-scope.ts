import type { AuditAct } from '@svc/contract';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ScriptName } from './script-name';

/** The act of a request that is under way. The script that makes its change records it. */
export interface OpenAct {
  tenant: string;
  act: AuditAct;
  isRecorded: boolean;
}

const open = new AsyncLocalStorage<OpenAct>();

/**
 * Scripts that make the change of a request, and the first elements of their replies that mean a change. The act of the request
 * is recorded by the same call, so that neither exists without the other.
 */
const changes: Partial<Record<ScriptName, readonly string[]>> = {
  acquireLock: ['held'],
  createRun: ['created'],
  issueWorkerSession: ['issued'],
  move: ['moved'],
  note: ['noted'],
  postRun: ['posted'],
  releaseLock: ['held', 'freed'],
  removeDeadLetter: ['removed'],
  removeRun: ['removed'],
  removeSchedule: ['removed'],
  removeSchema: ['removed'],
  removeWorkflow: ['removed'],
  renewLock: ['held'],
  replaceConfig: ['written'],
  revokeWorkerCredential: ['revoked'],
  revokeWorkerSession: ['revoked'],
  settleEffect: ['settled'],
  settleQuarantine: ['settled'],
  writePolicy: ['written'],
  writeSchedule: ['written'],
  writeSchema: ['created', 'replaced'],
  writeShadow: ['written'],
  writeWithPolicy: ['written'],
  writeWorkerCredential: ['created', 'replaced'],
  writeWorkflow: ['written'],
};

/** Runs a request whose change is recorded as this act. */
export const withAct = <T>(opened: OpenAct, run: () => Promise<T>): Promise<T> => open.run(opened, run);

/** Adds facts to the act of the request under way, before its change is made: ids, hashes, reasons. Never secrets. */
export function describeAct(
  more: Partial<Pick<AuditAct, 'reason' | 'decision' | 'job_id' | 'agent_id'>>,
  extra: Readonly<Record<string, string>> = {},
): void {
  const opened = open.getStore();
  if (opened) opened.act = { ...opened.act, ...more, extra: { ...opened.act.extra, ...extra } };
}

/** The act that a call of this script records, unless an earlier call has. */
export function findAct(name: ScriptName): { opened: OpenAct; when: readonly string[] } | undefined {
  const opened = open.getStore();
  const when = changes[name];
  return opened && when && !opened.isRecorded ? { opened, when } : undefined;
}
