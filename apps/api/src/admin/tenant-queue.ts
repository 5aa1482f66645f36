import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { QueueAdapterOptions } from '@bull-board/api/typings/app';
import type { TenantScope } from '@svc/contract';
import type { Store } from '@svc/store';
import type { Job, Queue } from 'bullmq';
import { jobIdOf } from './entry-view';

/** What stands in place of an entry that the viewer may not see. */
export const hiddenName = '(another tenant)';

/**
 * A queue as an admin of one tenant may see it. Queues are shared by all tenants, so each entry is held against the tenant
 * of its job; another tenant's keeps its place and its count, and shows neither topic, payload, error nor log.
 */
export class TenantQueue extends BullMQAdapter {
  constructor(
    queue: Queue,
    options: Partial<QueueAdapterOptions>,
    private readonly store: Pick<Store, 'index' | 'deadLetters'>,
    /** Whose request is being served. */
    private readonly scope: () => TenantScope,
  ) {
    super(queue, options);
  }

  override async getJob(id: string): Promise<Job | undefined> {
    const entry = await super.getJob(id);
    return entry && (await this.shown([entry]))[0];
  }

  override async getJobs(...page: Parameters<BullMQAdapter['getJobs']>): Promise<Job[]> {
    return this.shown(await super.getJobs(...page));
  }

  override async getJobLogs(id: string): Promise<string[]> {
    const entry = await super.getJob(id);
    const seen = entry && (await this.seenJobs([entry])).has(jobIdOf(entry.data) ?? '');
    return seen ? super.getJobLogs(id) : [];
  }

  private async shown(entries: Job[]): Promise<Job[]> {
    if (this.scope() === '*') return entries;
    const seen = await this.seenJobs(entries);
    return entries.map((entry) => (seen.has(jobIdOf(entry.data) ?? '') ? entry : hidden(entry)));
  }

  /** Ids of the jobs of these entries that the viewer may see. A dead letter outlives the record of its job. */
  private async seenJobs(entries: readonly Job[]): Promise<ReadonlySet<string>> {
    const scope = this.scope();
    const ids = [...new Set(entries.flatMap(({ data }) => jobIdOf(data) ?? []))];
    if (scope === '*') return new Set(ids);
    const records = await this.store.index.records(ids);
    const known = new Set(records.map(({ id }) => id));
    const letters = await Promise.all(
      ids.filter((id) => !known.has(id)).map((id) => this.store.deadLetters.get(scope, id)),
    );
    return new Set([
      ...records.filter(({ tenant }) => tenant === scope).map(({ id }) => id),
      ...letters.flatMap((letter) => (typeof letter === 'object' ? letter.job_id : [])),
    ]);
  }
}

/** The entry was read for this answer only, so it can be emptied where it is. */
function hidden(entry: Job): Job {
  entry.name = hiddenName;
  entry.data = {};
  entry.failedReason = '';
  entry.stacktrace = [];
  entry.returnvalue = null;
  entry.progress = 0;
  return entry;
}
