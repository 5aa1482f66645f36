import { AppError, type Caller, type SignalView } from '@svc/contract';
import { isRunEnded } from '@svc/lifecycle';
import type { RunRecord } from '@svc/store';
import type { Base } from '@svc/platform';
import { requireFound } from '../definitions/read-workflows';
import { awaitRun } from './await-run';

export interface RunSignal {
  runId: string;
  name: string;
  payload?: unknown;
  /** '' = generated. */
  id: string;
}

const processedWithinMs = 2_000;
/** Bounds the run record: a run keeps up to 100 undelivered signals and rewrites them at each pass. */
const maxPayloadBytes = 65_536;

/**
 * Sends a signal to a run. It is durable once this returns; `delivered` says whether a step has received it by then.
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
  if (posted.kind !== 'posted') return requireFound<never>(posted, 'run_not_found');
  const run = await awaitRun(deps, runId, (now) => isRunEnded(now.status) || isProcessed(now, id), processedWithinMs);
  const processed = run !== undefined && isProcessed(run, id);
  // The run ended first, and its inbox was dropped.
  if (!processed && run && isRunEnded(run.status)) {
    throw new AppError('run_already_ended', { run_status: run.status });
  }
  return { run_id: runId, signal: name, delivered: processed && !isUndelivered(run, name) };
}

const isProcessed = ({ header }: RunRecord, id: string): boolean => asList(header['signal_ids']).includes(id);

/** A waiting step takes the oldest signal of the name at once, so while any is kept, the newest is undelivered. */
const isUndelivered = ({ header }: RunRecord, name: string): boolean =>
  asList(header['signals']).some((kept) => (kept as { name?: unknown }).name === name);

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
