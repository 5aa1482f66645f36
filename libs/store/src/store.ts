import { luaQueues, type AnyQueueSpec } from '@svc/queues';
import type { Redis } from 'ioredis';
import { ConfigRepository } from './config.repository';
import { DataRepository } from './data.repository';
import { DeadLetterRepository } from './dead-letter.repository';
import { JobIndex } from './job.index';
import { JobRepository, type Retention } from './job.repository';
import { Lease } from './lease';
import { LoadRepository } from './load.repository';
import { PolicyRepository } from './policy.repository';
import { RunIndex } from './run.index';
import { RunRepository } from './run.repository';
import { ScheduleRepository } from './schedule.repository';
import { SchemaRepository } from './schema.repository';
import { loadScripts } from './scripts';
import { SpendRepository } from './spend.repository';
import { ShadowResultRepository } from './shadow-result.repository';
import { ShadowRepository } from './shadow.repository';
import { QueuePositionRepository } from './queue-position.repository';
import { VelocityRepository } from './velocity.repository';
import { WorkerRepository } from './worker.repository';
import { WorkflowRepository } from './workflow.repository';

/** All repositories over one connection. */
export interface Store {
  redis: Redis;
  jobs: JobRepository;
  index: JobIndex;
  data: DataRepository;
  deadLetters: DeadLetterRepository;
  workers: WorkerRepository;
  config: ConfigRepository;
  schemas: SchemaRepository;
  policy: PolicyRepository;
  shadows: ShadowRepository;
  shadowResults: ShadowResultRepository;
  velocity: VelocityRepository;
  load: LoadRepository;
  workflows: WorkflowRepository;
  runs: RunRepository;
  runIndex: RunIndex;
  schedules: ScheduleRepository;
  spend: SpendRepository;
  queuePositions: QueuePositionRepository;
  lease(key: string, owner: string, ttlMs: number): Lease;
}

/** @param queues the queue table, so that scripts can write records and queue entries together */
export function openStore(redis: Redis, queues: Readonly<Record<string, AnyQueueSpec>>, retention: Retention): Store {
  loadScripts(redis, luaQueues(queues));
  return {
    redis,
    jobs: new JobRepository(redis, retention),
    index: new JobIndex(redis),
    data: new DataRepository(redis, retention.dataSec),
    deadLetters: new DeadLetterRepository(redis),
    workers: new WorkerRepository(redis),
    config: new ConfigRepository(redis),
    schemas: new SchemaRepository(redis),
    policy: new PolicyRepository(redis),
    shadows: new ShadowRepository(redis),
    shadowResults: new ShadowResultRepository(redis),
    velocity: new VelocityRepository(redis),
    load: new LoadRepository(redis),
    workflows: new WorkflowRepository(redis),
    runs: new RunRepository(redis, retention),
    runIndex: new RunIndex(redis),
    schedules: new ScheduleRepository(redis),
    spend: new SpendRepository(redis),
    queuePositions: new QueuePositionRepository(redis, queues),
    lease: (key, owner, ttlMs) => new Lease(redis, key, owner, ttlMs),
  };
}
