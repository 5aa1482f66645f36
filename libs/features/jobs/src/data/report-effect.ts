import { AppError, type EffectReport, type EffectReportView, limits } from '@svc/contract';
import type { EffectClaim } from '@svc/store';
import { type DataUrlDeps, heldJob, openDataUrl } from './data-urls';

export interface EffectReportDeps extends DataUrlDeps {
  events: {
    /** A worker reported an effect. @param outcome its state, or the reason of the refusal */
    effectReported(op: EffectReport['op'], outcome: string): void;
  };
}

/**
 * Records the intent or the result of a side effect of the job in a data URL. An intent only from the current dispatch; a
 * result also after it ended, so that an effect whose worker was declared lost too early does not stay unknown.
 *
 * @throws the codes of `openDataUrl` and `heldJob`, too_many_effects, effect_not_begun, effect_settled, overloaded
 */
export async function reportEffect(
  deps: EffectReportDeps,
  jobId: string,
  token: unknown,
  { op, key, call, result }: EffectReport,
): Promise<EffectReportView> {
  const grant = openDataUrl(deps, 'effect', jobId, token);
  const { jobId: _, purpose: __, ...holder } = grant;
  const claim: EffectClaim = { ...holder, jobId, key, call };
  if (op === 'begin') return beginEffect(deps, claim);
  const { store } = deps.artifacts;
  const job = await store.jobs.load(jobId);
  if (!job) throw new AppError('job_not_found');
  if (job.tenant !== grant.tenant) throw new AppError('tenant_access_denied');
  const recorded = op === 'finish' && isJson(result) ? result : undefined;
  const outcome = await store.effects.end(job, claim, op, recorded);
  deps.events.effectReported(op, outcome.kind === 'ended' ? outcome.state : outcome.kind);
  if (outcome.kind === 'missing') throw new AppError('effect_not_begun');
  if (outcome.kind === 'refused') throw new AppError('effect_settled', { state: outcome.state });
  return { state: op === 'finish' ? 'done' : 'not_happened' };
}

async function beginEffect(deps: EffectReportDeps, claim: EffectClaim): Promise<EffectReportView> {
  const { store, admission } = deps.artifacts;
  const job = await heldJob(deps, claim);
  const outcome = await admission.data(claim.tenant, claim.key.length, () => store.effects.begin(job, claim));
  deps.events.effectReported('begin', outcome.kind);
  switch (outcome.kind) {
    case 'missing':
      throw new AppError('job_not_found');
    case 'other_tenant':
      throw new AppError('tenant_access_denied');
    case 'not_in_flight':
      throw new AppError('job_not_in_flight', { state: outcome.state });
    case 'superseded':
      throw new AppError('dispatch_superseded');
    case 'full':
      throw new AppError('too_many_effects');
    case 'begun':
    case 'unknown':
      return { state: outcome.kind };
    case 'done':
    case 'happened':
      return { state: outcome.kind, ...(outcome.result !== undefined && { result: outcome.result }) };
  }
}

/** Results are passed on to workers and operators, which parse them. */
function isJson(text: string | undefined): text is string {
  if (text === undefined || text === '') return false;
  if (Buffer.byteLength(text) > limits.effectResultBytes) throw new AppError('effect_result_invalid');
  try {
    JSON.parse(text);
    return true;
  } catch {
    throw new AppError('effect_result_invalid');
  }
}
