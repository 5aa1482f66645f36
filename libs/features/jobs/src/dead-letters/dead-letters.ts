import { AppError, type Caller, type DeadLetterPageView, type DeadLetterView } from '@svc/contract';
import { type DeadLetterPosition, type Store, toEffectScope } from '@svc/store';
import { joinIdentities } from '@svc/identity';
import { inheritedLabels, resubmit, type ResubmitDeps } from '../resubmit';
import { confirmQuarantine, type QuarantineDeps } from './resolve-quarantine';

/** Newest first. See docs/reference/jobs.md#dead-letters. */
export async function listDeadLetters(
  { store }: { store: Store },
  tenant: string,
  limit: number,
): Promise<DeadLetterView[]> {
  return (await store.deadLetters.page(tenant, limit)).items;
}

/**
 * The same with cursors. A cursor is a unix second, and a page may end within one; the tiebreaker is the exact position
 * and wins over the cursor. Without it the next page starts at the end of that second, so entries may repeat and none is
 * skipped, unless one second holds more entries than a page.
 */
export async function pageDeadLetters(
  { store }: { store: Pick<Store, 'deadLetters'> },
  tenant: string,
  { limit, cursor: cursorUs, tiebreaker = '' }: { limit: number; cursor?: number; tiebreaker?: string },
): Promise<DeadLetterPageView> {
  const after = positionIn(tiebreaker);
  const { items, more } = await store.deadLetters.page(tenant, limit, after ?? cursorUs);
  if (!more) return { items, next_cursor: null };
  const second = toSeconds(more.last.atUs);
  const isCutWithin = toSeconds(more.next.atUs) === second;
  // Without a tiebreaker, a page that lies within one second would repeat forever.
  const isStuck = !after && cursorUs !== undefined && toSeconds(cursorUs) === second;
  return {
    items,
    next_cursor: isCutWithin && !isStuck ? second : second - 1,
    next_tiebreaker: toTiebreaker(more.last),
  };
}

const toSeconds = (us: number): number => Math.floor(us / 1e6);

const toTiebreaker = ({ atUs, id }: DeadLetterPosition): string => Buffer.from(`${atUs}:${id}`).toString('base64url');

/** Undefined for an invalid tiebreaker: like a bad cursor, it is ignored. */
function positionIn(tiebreaker: string): DeadLetterPosition | undefined {
  const [, at, id] = /^(\d{1,16}):(.+)$/s.exec(Buffer.from(tiebreaker, 'base64url').toString()) ?? [];
  return at !== undefined && id !== undefined ? { atUs: Number(at), id } : undefined;
}

/**
 * Removes a dead letter; removing one that does not exist is a no-op. For a quarantined output this confirms the
 * quarantine: it can no longer be released.
 *
 * @throws tenant_access_denied
 */
export async function removeDeadLetter(deps: QuarantineDeps, caller: Caller, id: string): Promise<void> {
  const { store } = deps;
  const letter = await store.deadLetters.get(caller.scope, id);
  if (letter === undefined) return;
  if (letter === 'other_tenant') throw new AppError('tenant_access_denied');
  if (!(await confirmQuarantine(deps, caller, id))) await store.deadLetters.remove(letter.tenant, id);
}

/**
 * Runs a dead letter again as a new job, with a new policy decision; the old job keeps its state, and a withheld output
 * stays withheld.
 *
 * @returns the new job's id
 * @throws dlq_entry_not_found, tenant_access_denied, missing_topic_for_retry
 */
export async function retryDeadLetter(deps: ResubmitDeps, caller: Caller, id: string): Promise<string> {
  const letter = await deps.store.deadLetters.get(caller.scope, id);
  if (letter === undefined) throw new AppError('dlq_entry_not_found');
  if (letter === 'other_tenant') throw new AppError('tenant_access_denied');
  const original = await deps.store.jobs.load(id);
  if (!original) throw new AppError(letter.topic ? 'dlq_entry_not_found' : 'missing_topic_for_retry');
  const { idempotency_key: _, ...request } = original.request;
  const jobId = await resubmit(deps, original, {
    id: `${id}-retry-${deps.random.hex(4)}`,
    traceId: `dlq-retry-${id}`,
    tenant: original.tenant,
    request: {
      ...request,
      labels: { ...inheritedLabels(request.labels), retry: 'true', dlq_entry: id, retry_of_job: id },
      env: { ...request.env, retry_of_job: id },
    },
    // Policy sees the content of the original submitter.
    submitter: joinIdentities(caller.submitterId, original.submitter, original.author),
    deadlineMs: request.deadline_ms > 0 ? deps.clock.nowMs() + request.deadline_ms : 0,
    effectsOf: toEffectScope(original),
    once: `dlq-retry:${id}:${letter.created_at}`,
  });
  // After a crash here the entry stays and the new job runs; repeated or concurrent calls return the same new job.
  await deps.store.deadLetters.remove(letter.tenant, id);
  return jobId;
}
