import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { QueueAdapterOptions } from '@bull-board/api/typings/app';
import type { TenantScope } from '@svc/contract';
import type { Store } from '@svc/store';
import type { FlowProducer, Job, Queue } from 'bullmq';
import { jobIdOf, runIdOf } from './entry-view';

/** What stands in place of an entry that the viewer may not see. */
export const hiddenName = '(another tenant)';

/**
 * A queue as an admin of one tenant may see it. Queues are shared by all tenants, so each entry is held against the tenant
 * of its job or run; another tenant's keeps its place and its count, and shows neither topic, payload, error nor log.
 */
export class TenantQueue extends BullMQAdapter {
  constructor(
    queue: Queue,
    options: Partial<QueueAdapterOptions>,
    private readonly store: Pick<Store, 'index' | 'deadLetters' | 'runIndex'>,
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
    return entry && (await this.sees([entry]))(entry) ? super.getJobLogs(id) : [];
  }

  /** A flow is read past the adapter; it is of one tenant, so its root tells whether it may be seen. */
  override async getFlowProducer(): Promise<FlowProducer | null> {
    const producer = await super.getFlowProducer();
    if (!producer) return null;
    const guarded: Pick<FlowProducer, 'getFlow'> = {
      getFlow: async (of) => {
        const tree = await producer.getFlow(of);
        // The board takes what is missing for no flow.
        if (tree && !(await this.sees([tree.job]))(tree.job)) throw new Error('not a flow of this tenant');
        return tree;
      },
    };
    return Object.assign(Object.create(producer) as FlowProducer, guarded);
  }

  private async shown(entries: Job[]): Promise<Job[]> {
    const sees = await this.sees(entries);
    return entries.map((entry) => (sees(entry) ? entry : hidden(entry)));
  }

  /** Which of these entries the viewer may see. */
  private async sees(entries: readonly Job[]): Promise<(entry: Job) => boolean> {
    if (this.scope() === '*') return () => true;
    const [jobs, runs] = await Promise.all([this.seenJobs(entries), this.seenRuns(entries)]);
    return ({ data }) => jobs.has(jobIdOf(data) ?? '') || runs.has(runIdOf(data) ?? '');
  }

  private async seenRuns(entries: readonly Job[]): Promise<ReadonlySet<string>> {
    const scope = this.scope();
    const ids = [...new Set(entries.flatMap(({ data }) => runIdOf(data) ?? []))];
    const tenants = await this.store.runIndex.tenantsOf(ids);
    return new Set(ids.filter((id) => tenants.get(id) === scope));
  }

  /** Ids of the jobs of these entries that the viewer may see. A dead letter outlives the record of its job. */
  private async seenJobs(entries: readonly Job[]): Promise<ReadonlySet<string>> {
    const scope = this.scope();
    const ids = [...new Set(entries.flatMap(({ data }) => jobIdOf(data) ?? []))];
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
