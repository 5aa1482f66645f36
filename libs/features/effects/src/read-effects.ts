import { AppError, type Caller, type EffectPage, type EffectQuery, type EffectView } from '@svc/contract';
import type { Base } from '@svc/platform';
import { toEffectView } from './effect-view';

/** Effects of the caller's tenant whose outcome is or was unknown. */
export async function listEffects(
  { store }: Pick<Base, 'store'>,
  { tenant }: Caller,
  { limit, state = 'unknown', cursor }: EffectQuery,
): Promise<EffectPage> {
  const { items, nextCursorUs } = await store.effects.page(tenant, state, limit, cursor);
  return { items: items.map(toEffectView), next_cursor: nextCursorUs };
}

/** @throws effect_not_found */
export async function getEffect({ store }: Pick<Base, 'store'>, { scope }: Caller, id: string): Promise<EffectView> {
  const effect = await store.effects.get(scope, id);
  if (!effect) throw new AppError('effect_not_found');
  return toEffectView(effect);
}

/** @throws job_not_found, tenant_access_denied */
export async function listJobEffects(
  { store }: Pick<Base, 'store'>,
  { scope }: Caller,
  jobId: string,
): Promise<{ items: EffectView[] }> {
  const job = await store.jobs.load(jobId);
  if (!job) throw new AppError('job_not_found');
  if (scope !== '*' && job.tenant !== scope) throw new AppError('tenant_access_denied');
  return { items: (await store.effects.ofJob(job)).map(toEffectView) };
}
