import { actionDescriptor, type Caller } from '@svc/contract';
import { bindingHash, type ActionApproval } from '@svc/policy';
import type { JobRecord, Store } from '@svc/store';
import { getDeciderName } from '@svc/approvals';
import type { Clock } from '@svc/platform';
import { readContext } from '@svc/jobs';
import type { ActionClaimRepository } from './action-claim.repository';

export interface ActionApprovalDeps {
  store: Pick<Store, 'jobs' | 'data'>;
  actionClaims: ActionClaimRepository;
  clock: Pick<Clock, 'nowMs'>;
}

/** Time after its resolution in which an approval allows the action. */
const usableMs = 24 * 3_600_000;
export const claimKeptSec = (2 * usableMs) / 1_000;

/**
 * The approval of a held job, as an approval of an action: the one that the job's context describes as `action`, since
 * the approvers saw it when they decided. See docs/reference/policy.md#action-checks.
 */
export async function actionApproval(
  { store, actionClaims, clock }: ActionApprovalDeps,
  caller: Caller,
  ref: string,
): Promise<ActionApproval | undefined> {
  const job = await store.jobs.load(ref);
  if (!job?.approval) return undefined;
  const { status, resolved_by, resolved_at = 0 } = job.approval;
  const [isConsumed, actionHash] = await Promise.all([actionClaims.isTaken(ref), describedAction(store, job)]);
  return {
    tenant: job.tenant,
    status: status === 'approved' || status === 'pending' ? status : 'other',
    actionHash,
    isOwn: resolved_by === getDeciderName(caller),
    isConsumed,
    isExpired: status === 'approved' && resolved_at / 1_000 + usableMs < clock.nowMs(),
  };
}

async function describedAction(store: Pick<Store, 'data'>, job: JobRecord): Promise<string | undefined> {
  const text = await readContext(store, job);
  const document = text && parsed(text);
  const { error, value } = actionDescriptor
    .required()
    .validate(getField(getField(document, 'context'), 'action'), { convert: false });
  return error ? undefined : bindingHash(value);
}

/** The input may be the result of another job, and need not be JSON. */
function parsed(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('utf8'));
  } catch {
    return undefined;
  }
}

const getField = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
