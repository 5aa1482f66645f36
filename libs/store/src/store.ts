import { defaultShard, type AnyQueueSpec } from '@svc/queues';
import type { Redis } from 'ioredis';
import { AgentRepository } from './agent.repository';
import { ApiKeyRepository } from './api-key.repository';
import { AuditRepository } from './audit.repository';
import { ConfigRepository } from './config.repository';
import { DataRepository } from './data.repository';
import { DeadLetterRepository } from './dead-letter.repository';
import { DelegationRepository } from './delegation.repository';
import { EffectRepository } from './effect.repository';
import { EventLogRepository } from './event-log.repository';
import { JobIndex } from './job.index';
import { LegalHoldRepository } from './legal-hold.repository';
import { JobRepository } from './job.repository';
import type { Retention } from './job.transition';
import { buildKeys, type Keys } from './keys';
import { Lease } from './lease';
import { LimitRepository } from './limit.repository';
import { LoadRepository } from './load.repository';
import { PolicyRepository } from './policy.repository';
import { RoleRepository } from './role.repository';
import { RunIndex } from './run.index';
import { RunRepository } from './run.repository';
import { ScheduleRepository } from './schedule.repository';
import { SchemaRepository } from './schema.repository';
import { LockRepository } from './lock.repository';
import { loadScripts } from './scripts';
import { SessionRepository } from './session.repository';
import { TenantRepository } from './tenant.repository';
import { SpendRepository } from './spend.repository';
import { ShadowResultRepository } from './shadow-result.repository';
import { ShadowRepository } from './shadow.repository';
import { QueuePositionRepository } from './queue-position.repository';
import { UserRepository } from './user.repository';
import { VelocityRepository } from './velocity.repository';
import { WorkerRepository } from './worker.repository';
import { WorkflowRepository } from './workflow.repository';

/** All repositories of one shard over one connection. */
export interface Store {
  redis: Redis;
  /** The keys of the shard. */
  keys: Keys;
  agents: AgentRepository;
  apiKeys: ApiKeyRepository;
  delegations: DelegationRepository;
  audit: AuditRepository;
  legalHolds: LegalHoldRepository;
  tenants: TenantRepository;
  jobs: JobRepository;
  eventLogs: EventLogRepository;
  index: JobIndex;
  data: DataRepository;
  deadLetters: DeadLetterRepository;
  effects: EffectRepository;
  workers: WorkerRepository;
  config: ConfigRepository;
  locks: LockRepository;
  schemas: SchemaRepository;
  policy: PolicyRepository;
  shadows: ShadowRepository;
  shadowResults: ShadowResultRepository;
  velocity: VelocityRepository;
  load: LoadRepository;
  limits: LimitRepository;
  workflows: WorkflowRepository;
  roles: RoleRepository;
  runs: RunRepository;
  runIndex: RunIndex;
  schedules: ScheduleRepository;
  spend: SpendRepository;
  queuePositions: QueuePositionRepository;
  users: UserRepository;
  sessions: SessionRepository;
  lease(key: string, owner: string, ttlMs: number): Lease;
}

/**
 * @param queues the queue table, so that scripts can write records and queue entries together
 * @param shard name of the shard, default the first. Config, policies and schemas exist only in the first. See ADR 21.
 */
export function openStore(
  redis: Redis,
  queues: Readonly<Record<string, AnyQueueSpec>>,
  retention: Retention,
  shard = defaultShard,
): Store {
  loadScripts(redis, shard, queues);
  const keys = buildKeys(shard);
  return {
    redis,
    keys,
    agents: new AgentRepository(redis, keys),
    apiKeys: new ApiKeyRepository(redis),
    delegations: new DelegationRepository(redis, keys),
    audit: new AuditRepository(redis, keys, shard),
    legalHolds: new LegalHoldRepository(redis, keys),
    tenants: new TenantRepository(redis, keys),
    jobs: new JobRepository(redis, keys, retention),
    eventLogs: new EventLogRepository(redis, keys),
    index: new JobIndex(redis, keys),
    data: new DataRepository(redis, keys, retention.dataSec),
    deadLetters: new DeadLetterRepository(redis, keys),
    effects: new EffectRepository(redis, keys),
    workers: new WorkerRepository(redis, keys),
    config: new ConfigRepository(redis),
    locks: new LockRepository(redis),
    schemas: new SchemaRepository(redis),
    policy: new PolicyRepository(redis, keys),
    shadows: new ShadowRepository(redis),
    shadowResults: new ShadowResultRepository(redis),
    velocity: new VelocityRepository(redis),
    limits: new LimitRepository(redis, keys),
    load: new LoadRepository(redis, keys),
    workflows: new WorkflowRepository(redis, keys),
    roles: new RoleRepository(redis),
    runs: new RunRepository(redis, keys, retention),
    runIndex: new RunIndex(redis, keys),
    schedules: new ScheduleRepository(redis, keys),
    spend: new SpendRepository(redis, keys),
    queuePositions: new QueuePositionRepository(redis, keys, queues),
    users: new UserRepository(redis),
    sessions: new SessionRepository(redis),
    lease: (key, owner, ttlMs) => new Lease(redis, key, owner, ttlMs),
  };
}
