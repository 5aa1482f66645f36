import { AppError, type Caller, type EffectSettlement, limits, type SettledEffect } from '@svc/contract';
import { type ResubmitDeps, retryDeadLetter } from '@svc/jobs';
import { redactText } from '@svc/scanning';
import { describeAct, type EffectRecord } from '@svc/store';
import { toEffectView } from './effect-view';

export interface SettleDeps extends ResubmitDeps {
  events: { effectSettled(outcome: EffectSettlement['outcome']): void };
}

const settlements = { happened: 'confirm', not_happened: 'deny', retry: 'redo' } as const;

/**
 * Settles an effect whose outcome is unknown, and with `retry` submits its job again with the same effects. After a crash
 * between the two, a repeated call submits the job.
 *
 * @throws effect_not_found, effect_settled, effect_result_invalid, and the codes of `resubmit`
 */
export async function settleEffect(
  deps: SettleDeps,
  caller: Caller,
  id: string,
  { outcome, reason: given, result }: EffectSettlement,
): Promise<SettledEffect> {
  const { store } = deps;
  const before = await store.effects.get(caller.scope, id);
  if (!before) throw new AppError('effect_not_found');
  const reason = redactText(given);
  describeAct({ reason, job_id: before.job_id }, { effect_key: redactText(before.key), outcome });
  const settled = await store.effects.settle(caller.scope, id, {
    event: settlements[outcome],
    by: caller.principalId || caller.keyId,
    role: caller.role,
    reason,
    ...(outcome === 'happened' && result !== undefined && { result: serialized(result) }),
  });
  if (settled.kind === 'missing') throw new AppError('effect_not_found');
  if (settled.kind === 'refused' && settled.state !== outcome) {
    throw new AppError('effect_settled', { state: settled.state });
  }
  if (settled.kind === 'settled') deps.events.effectSettled(outcome);
  const retried = outcome === 'retry' ? await retryJob(deps, caller, before) : undefined;
  const effect = await store.effects.get(caller.scope, id);
  if (!effect) throw new AppError('effect_not_found');
  return { effect: toEffectView(effect), ...(retried !== undefined && { retry_job_id: retried }) };
}

/** @throws effect_result_invalid */
function serialized(result: unknown): string {
  const text = JSON.stringify(result);
  if (Buffer.byteLength(text) > limits.effectResultBytes) throw new AppError('effect_result_invalid');
  return text;
}

/** A job that has not ended, or whose run retries it, needs no new job: its next attempt makes the effect. */
async function retryJob(deps: SettleDeps, caller: Caller, { job_id: id }: EffectRecord): Promise<string | undefined> {
  const letter = await deps.store.deadLetters.get(caller.scope, id);
  return letter === undefined || letter === 'other_tenant' ? undefined : retryDeadLetter(deps, caller, id);
}
