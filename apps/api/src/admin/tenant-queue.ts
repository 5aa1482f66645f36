import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { QueueAdapterOptions } from '@bull-board/api/typings/app';
import { everyTenant, type TenantScope } from '@svc/contract';
import type { Store } from '@svc/store';
import type { FlowProducer, Job, Queue } from 'bullmq';
import { createHmac, randomBytes } from 'node:crypto';
import { getJobId, getRunId } from './entry-view';

/** Replaces an entry that the viewer may not see. */
export const hiddenName = '(another tenant)';

/** The caller of the current request. */
export interface Viewer {
  /** Tenants whose entries are shown. */
  scope: TenantScope;
  /** Tenants whose installation records the viewer manages; '*' = an operator, who also sees Redis itself. */
  manages: TenantScope;
}

/**
 * A queue as shown to an admin of one tenant. Queues are shared by all tenants, so each entry is checked against the tenant
 * of its job or run. Entries of other tenants keep their position and count; their ids, which name a job, run or schedule,
 * are replaced by a keyed digest, and all other data is removed. Only operators see the store behind the queues.
 */
export class TenantQueue extends BullMQAdapter {
  constructor(
    queue: Queue,
    options: Partial<QueueAdapterOptions>,
    private readonly store: Pick<Store, 'index' | 'deadLetters' | 'runIndex'>,
    private readonly viewer: () => Viewer,
  ) {
    super(queue, options);
  }

  override async getJob(id: string): Promise<Job | undefined> {
    const entry = await super.getJob(id);
    // Like a missing entry: a masked one would confirm that a guessed id exists.
    return entry && (await this.sees([entry]))(entry) ? entry : undefined;
  }

  override async getJobs(...page: Parameters<BullMQAdapter['getJobs']>): Promise<Job[]> {
    return this.shown(await super.getJobs(...page));
  }

  override async getJobLogs(id: string): Promise<string[]> {
    const entry = await super.getJob(id);
    return entry && (await this.sees([entry]))(entry) ? super.getJobLogs(id) : [];
  }

  override async getRedisInfo(): Promise<string | null> {
    return this.isOperator() ? super.getRedisInfo() : null;
  }

  override async getDatastoreStats(): ReturnType<BullMQAdapter['getDatastoreStats']> {
    return this.isOperator() ? super.getDatastoreStats() : null;
  }

  override async getWorkers(): ReturnType<BullMQAdapter['getWorkers']> {
    return this.isOperator() ? super.getWorkers() : null;
  }

  override async getJobSchedulers(): ReturnType<BullMQAdapter['getJobSchedulers']> {
    return this.isOperator() ? super.getJobSchedulers() : [];
  }

  /** Flows bypass the adapter. All entries of a flow belong to one tenant, so its root decides whether it is shown. */
  override async getFlowProducer(): Promise<FlowProducer | null> {
    const producer = await super.getFlowProducer();
    if (!producer) return null;
    const guarded: Pick<FlowProducer, 'getFlow'> = {
      getFlow: async (of) => {
        const tree = await producer.getFlow(of);
        // The board treats a missing value as no flow.
        if (tree && !(await this.sees([tree.job]))(tree.job)) throw new Error('not a flow of this tenant');
        return tree;
      },
    };
    return Object.assign(Object.create(producer) as FlowProducer, guarded);
  }

  private readonly isOperator = () => this.viewer().manages === everyTenant;

  private async shown(entries: Job[]): Promise<Job[]> {
    const sees = await this.sees(entries);
    return entries.map((entry) => (sees(entry) ? entry : masked(entry)));
  }

  /** Filters the entries that the viewer may see. */
  private async sees(entries: readonly Job[]): Promise<(entry: Job) => boolean> {
    if (this.viewer().scope === everyTenant) return () => true;
    const [jobs, runs] = await Promise.all([this.seenJobs(entries), this.seenRuns(entries)]);
    return ({ data }) => jobs.has(getJobId(data) ?? '') || runs.has(getRunId(data) ?? '');
  }

  private async seenRuns(entries: readonly Job[]): Promise<ReadonlySet<string>> {
    const { scope } = this.viewer();
    const ids = [...new Set(entries.flatMap(({ data }) => getRunId(data) ?? []))];
    const tenants = await this.store.runIndex.tenantsOf(ids);
    return new Set(ids.filter((id) => tenants.get(id) === scope));
  }

  /** Ids of the jobs of these entries that the viewer may see. A dead letter outlives the record of its job. */
  private async seenJobs(entries: readonly Job[]): Promise<ReadonlySet<string>> {
    const { scope } = this.viewer();
    const ids = [...new Set(entries.flatMap(({ data }) => getJobId(data) ?? []))];
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

/** Random per process: a digest identifies an entry within one gateway and cannot be computed from a guessed id. */
const maskKey = randomBytes(32);
const maskId = (id: string): string => createHmac('sha256', maskKey).update(id).digest('hex').slice(0, 16);

/** Masks in place, since the entry was read for this response only. */
function masked(entry: Job): Job {
  entry.id = maskId(`${entry.queueName}:${entry.id ?? ''}`);
  entry.name = hiddenName;
  entry.data = {};
  entry.opts = {};
  delete entry.parent;
  delete entry.parentKey;
  delete entry.processedOn;
  delete entry.finishedOn;
  delete entry.processedBy;
  delete entry.deduplicationId;
  delete entry.repeatJobKey;
  entry.timestamp = 0;
  entry.delay = 0;
  entry.priority = 0;
  entry.attemptsMade = 0;
  entry.attemptsStarted = 0;
  entry.deferredFailure = '';
  entry.failedReason = '';
  entry.stacktrace = [];
  entry.returnvalue = null;
  entry.progress = 0;
  return entry;
}
