import {
  anyPool,
  AppError,
  canBeNatsUser,
  managedScope,
  tierLimit,
  type Caller,
  type CreatedWorkerCredential,
  type WorkerCredentialBody,
} from '@svc/contract';
import { hashForNats, hashWorkerToken, newWorkerToken, sha256, toPublicKeyPem } from '@svc/identity';
import type { LicenseLimits, StoredFleet } from '@svc/platform';
import type { TopicDeps } from '@svc/registry';
import { announceChange, type AnnounceDeps } from '@svc/settings';
import { isServiceSender } from './attestation';
import { toCredentialView } from './credential-view';
import { type StoredToken, TOKEN_CHECK_CHARS, type WorkerTrustRepository } from './worker-trust.repository';

/** The notice that credentials or sessions of workers changed. */
export const workersScope = { scope: 'system', scope_id: 'workers' } as const;

export type CredentialDeps = AnnounceDeps & {
  trust: WorkerTrustRepository;
  fleet: StoredFleet;
  topics: Pick<TopicDeps, 'registry'>;
  defaultTenant: string;
  /** Whether workers can get sessions. */
  hasSessions: boolean;
  license(): LicenseLimits;
};

/**
 * Creates the credential of a worker in the caller's tenant, or replaces it. The token is in the response only.
 * See docs/reference/worker-protocol.md#credentials.
 *
 * @throws worker_credential_invalid, worker_credential_not_found, pool_not_found, topic_not_found, tier_limit_exceeded
 */
export async function createWorkerCredential(
  deps: CredentialDeps,
  caller: Caller,
  body: WorkerCredentialBody,
): Promise<{ view: CreatedWorkerCredential; created: boolean }> {
  if (isServiceSender(body.worker_id) || !canBeNatsUser(body.worker_id))
    throw violation('worker_id', 'is reserved for services: choose another');
  await requirePools(deps.fleet, body.allowed_pools);
  await requireTopics(deps, caller, body.allowed_topics);
  const token = body.keep_token ? undefined : newWorkerToken();
  const credential = {
    worker_id: body.worker_id,
    tenant_id: caller.tenant,
    allowed_pools: tidy(body.allowed_pools),
    allowed_topics: tidy(body.allowed_topics),
    public_keys: readKeys(body.public_keys),
    ...(body.agent_id && { agent_id: body.agent_id }),
    created_by: caller.principalId,
    created_at: new Date(deps.clock.nowMs()).toISOString(),
  };
  const stored = token === undefined ? undefined : await toStoredToken(token);
  const { maxWorkers } = deps.license();
  const outcome = await deps.trust.write(managedScope(caller, deps.defaultTenant), {
    credential,
    token: stored,
    maxWorkers,
  });
  switch (outcome.kind) {
    // A worker id is part of a subject of the bus, so it exists once for all tenants.
    case 'other_tenant':
      throw violation('worker_id', 'is not available: choose another');
    case 'missing':
      throw new AppError('worker_credential_not_found');
    case 'tenant_full':
      throw violation('worker_id', `this tenant already has ${outcome.count} credentials: replace one`);
    case 'full':
      throw full(outcome.count, maxWorkers);
    case 'created':
    case 'replaced':
      break;
  }
  // After a crash here, replicas find the change by themselves within a second.
  await announceChange(deps, workersScope);
  return {
    view: { ...toCredentialView({ credential }), ...(token && { token }) },
    created: outcome.kind === 'created',
  };
}

/** What is stored of a token. */
export const toStoredToken = async (token: string, hashToken = hashWorkerToken): Promise<StoredToken> => ({
  credential_hash: await hashToken(token),
  token_check: sha256(token).slice(0, TOKEN_CHECK_CHARS),
  nats_hash: hashForNats(token),
  redis_digest: sha256(token),
});

function readKeys(keys: readonly string[]): string[] {
  try {
    return [...new Set(keys.map((pem) => toPublicKeyPem(pem)))];
  } catch {
    throw violation('public_keys', 'must be P-256 public keys in PEM');
  }
}

const tidy = (list: readonly string[]): string[] => [...new Set(list)].sort();

async function requirePools(fleet: StoredFleet, pools: readonly string[]): Promise<void> {
  const isKnown = (pool: string) => pool === anyPool || Object.hasOwn(fleet.pools().pools, pool);
  if (pools.every(isKnown)) return;
  // Another replica may have stored the pool a moment ago, with its notice still under way.
  await fleet.reload();
  if (!pools.every(isKnown)) throw new AppError('pool_not_found');
}

/** Patterns may cover topics that are registered later. */
async function requireTopics({ topics }: CredentialDeps, { tenant }: Caller, wanted: readonly string[]): Promise<void> {
  const named = wanted.filter((topic) => !/[*>]/.test(topic));
  if (named.length === 0) return;
  const { entries, populated } = await topics.registry.list(tenant);
  const known = new Set(entries.map(({ name }) => name));
  if (populated && named.some((topic) => !known.has(topic))) throw new AppError('topic_not_found');
}

const violation = (field: string, message: string) =>
  new AppError('worker_credential_invalid', { violations: [{ in: 'body', field, message }] });

const full = (current: number, allowed: number) =>
  tierLimit({
    message: `there are ${current} workers and the plan allows ${allowed}`,
    limit: 'max_workers',
    current,
    allowed,
  });
