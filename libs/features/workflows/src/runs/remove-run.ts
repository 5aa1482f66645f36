import { AppError, type Caller } from '@svc/contract';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Base } from '@svc/platform';
import { foundOf } from '../definitions/read-workflows';

const endsWithinMs = 5_000;
const pauseMs = 50;

/**
 * Deletes a run with all that belongs to it. One under way is cancelled first, and that stays when it does not end in time;
 * one that has ended and has still to tell its jobs so is waited for too. See docs/reference/workflows.md#runs.
 *
 * @throws run_not_found, tenant_access_denied, run_busy
 */
export async function removeRun({ store, clock }: Pick<Base, 'store' | 'clock'>, caller: Caller, id: string) {
  const untilMs = clock.nowMs() + endsWithinMs;
  for (let isCancelled = false; ; await sleep(pauseMs)) {
    const outcome = await store.runs.remove(caller.scope, id);
    if (outcome.kind === 'removed') return;
    // Gone while it was waited for: somebody else removed it.
    if (outcome.kind === 'missing' && isCancelled) return;
    if (outcome.kind !== 'active') return foundOf<void>(outcome, 'run_not_found');
    if (clock.nowMs() >= untilMs) {
      throw new AppError('run_busy', { run_status: outcome.status }, { 'Retry-After': '1' });
    }
    if (isCancelled) continue;
    await store.runs.post(caller.scope, id, { kind: 'cancel', by: caller.principalId, reason: 'the run is deleted' });
    isCancelled = true;
  }
}
