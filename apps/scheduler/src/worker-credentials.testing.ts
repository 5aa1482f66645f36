import { newWorkerToken } from '@svc/identity';
import type { Store } from '@svc/store';
import { toStoredToken, WorkerTrustRepository } from '@svc/worker-trust';

export interface GivenCredential {
  worker: string;
  /** The default tenant, whose workers run the jobs of all tenants, unless given. */
  tenant?: string;
  pools?: string[];
  topics?: string[];
  keys?: string[];
  agent?: string;
}

/** Stores a credential, as the gateway does. @returns the token */
export async function giveCredential(
  { redis }: Pick<Store, 'redis'>,
  { worker, tenant = 'default', pools = ['main'], topics = ['job.>'], keys = [], agent }: GivenCredential,
): Promise<string> {
  const token = newWorkerToken();
  const credential = {
    worker_id: worker,
    tenant_id: tenant,
    allowed_pools: pools,
    allowed_topics: topics,
    public_keys: keys,
    ...(agent !== undefined && { agent_id: agent }),
    created_by: 'test',
    created_at: '2026-01-01T00:00:00.000Z',
  };
  const write = { credential, token: await toStoredToken(token), maxWorkers: 0 };
  await new WorkerTrustRepository(redis).write('*', write);
  return token;
}
