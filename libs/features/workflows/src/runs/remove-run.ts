import { AppError, type Caller } from '@svc/contract';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Base } from '@svc/platform';
import { requireFound } from '../definitions/read-workflows';

const cancelTimeoutMs = 5_000;
const pollMs = 50;

/**
 * Deletes a run and its data. A live run is cancelled first and stays cancelled even if it does not end in time; an ended
 * run that still has to stop its jobs is waited for. See docs/reference/workflows.md#runs.
 *
 * @throws run_not_found, tenant_access_denied, run_busy, legal_hold_active
 */
export async function removeRun({ store, clock }: Pick<Base, 'store' | 'clock'>, caller: Caller, id: string) {
  const untilMs = clock.nowMs() + cancelTimeoutMs;
  for (let isCancelled = false; ; await sleep(pollMs)) {
    const outcome = await store.runs.remove(caller.scope, id);
    if (outcome.kind === 'removed') return;
    if (outcome.kind === 'held') throw new AppError('legal_hold_active');
    // Removed by another caller during the wait.
    if (outcome.kind === 'missing' && isCancelled) return;
    if (outcome.kind !== 'active') return requireFound<void>(outcome, 'run_not_found');
    if (clock.nowMs() >= untilMs) {
      throw new AppError('run_busy', { run_status: outcome.status }, { 'Retry-After': '1' });
    }
    if (isCancelled) continue;
    await store.runs.post(caller.scope, id, { kind: 'cancel', by: caller.principalId, reason: 'the run is deleted' });
    isCancelled = true;
  }
}
