import { AppError, type Caller, type SignalView } from '@svc/contract';
import { isRunEnded } from '@svc/lifecycle';
import type { RunRecord } from '@svc/store';
import type { Base } from '@svc/platform';
import { foundOf } from '../definitions/read-workflows';
import { awaitRun } from './await-run';

export interface RunSignal {
  runId: string;
  name: string;
  payload?: unknown;
  /** '' = one is made. */
  id: string;
}

const heardMs = 2_000;
/** A run keeps up to 100 signals that nobody waits for yet, and writes them at each of its passes. */
const maxPayloadBytes = 65_536;

/**
 * Tells a run that something happened. It is kept for the run once this returns; `delivered` says whether a step has taken
 * it by then.
 *
 * @throws run_not_found, tenant_access_denied, run_already_ended, request_too_large
 */
export async function signalRun(deps: Base, caller: Caller, signal: RunSignal): Promise<SignalView> {
  const { runId, name, payload } = signal;
  const bytes = Buffer.byteLength(JSON.stringify(payload ?? null));
  if (bytes > maxPayloadBytes) throw new AppError('request_too_large', { limit_bytes: maxPayloadBytes });
  const id = signal.id || deps.random.uuid();
  const event = { kind: 'signal', name, id, ...(payload !== undefined && { payload }) };
  const posted = await deps.store.runs.post(caller.scope, runId, event);
  if (posted.kind === 'ended') throw new AppError('run_already_ended', { run_status: posted.status });
  if (posted.kind !== 'posted') return foundOf<never>(posted, 'run_not_found');
  const run = await awaitRun(deps, runId, (now) => isRunEnded(now.status) || wasHeard(now, id), heardMs);
  const isHeard = run !== undefined && wasHeard(run, id);
  // The end was first: with it the inbox went.
  if (!isHeard && run && isRunEnded(run.status)) {
    throw new AppError('run_already_ended', { run_status: run.status });
  }
  return { run_id: runId, signal: name, delivered: isHeard && !isKept(run, name) };
}

const wasHeard = ({ header }: RunRecord, id: string): boolean => listOf(header['signal_ids']).includes(id);

/** A step that waits takes the oldest of the name at once: as long as any is kept, the newest one is among them. */
const isKept = ({ header }: RunRecord, name: string): boolean =>
  listOf(header['signals']).some((kept) => (kept as { name?: unknown }).name === name);

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
