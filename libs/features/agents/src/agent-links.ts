import type { WorkerTrustRepository } from '@svc/worker-trust';

interface LinkedWorker {
  tenant: string;
  agentId: string;
}

/**
 * The agents that workers act for, by their credentials, in memory: so that a submission needs no call of Redis to find the
 * agent of its caller. `sync` applies what changed; it runs twice a second.
 */
export class AgentLinks {
  private readonly linked = new Map<string, LinkedWorker>();
  private version = -1;

  constructor(private readonly trust: Pick<WorkerTrustRepository, 'version' | 'changedSince' | 'allIds' | 'records'>) {}

  /** Applies changes of credentials: one small read. */
  async sync(): Promise<void> {
    const version = await this.trust.version();
    if (version === this.version) return;
    // A lower version is that of a restored backup.
    const isFirst = this.version < 0 || version < this.version;
    const ids = isFirst ? await this.trust.allIds() : await this.trust.changedSince(this.version);
    const records = await this.trust.records(ids);
    if (isFirst) this.linked.clear();
    for (const id of ids) {
      const record = records.get(id);
      const { agent_id: agentId, tenant_id: tenant } = record?.credential ?? {};
      if (record && !record.revokedAt && agentId && tenant) this.linked.set(id, { tenant, agentId });
      else this.linked.delete(id);
    }
    this.version = version;
  }

  /** The agent that a principal of a tenant acts for; undefined when it is no worker of an agent. */
  async find(tenant: string, principal: string): Promise<string | undefined> {
    if (this.version < 0) await this.sync();
    const link = this.linked.get(principal);
    return link?.tenant === tenant ? link.agentId : undefined;
  }
}
