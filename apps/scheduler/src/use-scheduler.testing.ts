import { openBus } from '@svc/bus';
import {
  decodePacket,
  streams,
  submitJob as submitEndpoint,
  type JobResultDraft,
  type Packet,
  type TypedPacket,
  type PayloadKind,
  type SubmitBody,
} from '@svc/contract';
import type { JobState } from '@svc/lifecycle';
import { openQueue } from '@svc/queues';
import { queues, type QueueName } from '@svc/queues.config';
import { systemClock } from '@svc/runtime';
import { approveJob, rejectJob } from '@svc/approvals';
import type { PlacementDeps } from '@svc/dispatch';
import { cancelJob, type NewJobPlacement, submitJob, type SubmitOutcome } from '@svc/jobs';
import { changeDocument } from '@svc/settings';
import { admitAll } from '@svc/admission';
import { openStore, type JobRecord, type Store } from '@svc/store';
import { eventually, useServers, type Servers, person } from '@svc/testing';
import { createWorker, type Worker, type WorkerOptions } from '@svc/worker-sdk';
import { Redis } from 'ioredis';
import { connect } from 'nats';
import type { DelegationKeys } from '@svc/delegation';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway, type TestGateway } from './gateway.testing';
import { startRawWorker, type JobResponse, type RawWorker, type RawWorkerPlan } from './raw-worker.testing';
import { policyChanged, startScheduler, type Broken, type Scheduler, type SchedulerPlan } from './scheduler.testing';

/** Allows everything and checks no output. */
export const allowAll = `
version: '1'
default_decision: allow
`;

/** A policy with one rule for every job. */
export const ruled = (decision: string, more = ''): string => `
version: '1'
default_decision: deny
rules:
  - id: the-rule
    match: { topics: ['job.*', 'job.svc.approval-gate'] }
    decision: ${decision}
    reason: because
${more.replace(/^/gm, '    ')}
`;

/** The key of delegation tokens of the tests. */
export const delegationKeys = openTestKeys();

function openTestKeys(): DelegationKeys {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { signing: { kid: 'dlg-1', key: privateKey }, verifying: new Map([['dlg-1', publicKey]]) };
}

interface Open {
  redis: Redis;
  store: Store;
  dir: string;
  tap: Awaited<ReturnType<typeof openBus>>;
}

const busSettings = {
  senderId: 'test',
  jetstream: true,
  ackWaitMs: 30_000,
  maxAgeMs: 3_600_000,
  replicas: 1,
  maxAckPending: 100,
  pingIntervalMs: 30_000,
  reconnectWaitMs: 50,
};

/** Call at the top of a file: schedulers and workers on a Redis and a NATS of its own, both empty before each test. */
export function useScheduler() {
  // Generous for a loaded machine; every wait has its own, shorter limit.
  const servers = useServers();
  const broken: Broken = new Set();
  const packets: { subject: string; packet: Packet }[] = [];
  const stops: (() => Promise<unknown>)[] = [];
  const schedulers: Scheduler[] = [];
  let open: Open | undefined;
  const world = () => {
    if (!open) throw new Error('schedulers run only inside hooks and tests');
    return open;
  };
  const policyPath = () => join(world().dir, 'safety.yaml');

  beforeEach(async () => {
    const redis = new Redis(servers.redisUrl);
    const store = openStore(redis, queues, { metaSec: 3_600, dataSec: 600 });
    const dir = mkdtempSync(join(tmpdir(), 'svc-test-scheduler-'));
    const tap = await openBus({ ...busSettings, url: servers.natsUrl }, { nowUs: () => Date.now() * 1_000 });
    open = { redis, store, dir, tap };
    broken.clear();
    packets.length = 0;
    const onPacket = ({ subject, bytes }: { subject: string; bytes: Uint8Array }) => {
      const decoded = decodePacket(bytes);
      if (decoded.kind === 'ok' || decoded.kind === 'invalid') packets.push({ subject, packet: decoded.packet });
    };
    for (const pattern of ['sys.>', 'worker.>']) tap.tap(pattern, onPacket);
    await tap.ensureStreams();
    await tap.flush();
    writeFileSync(policyPath(), allowAll);
  });
  afterEach(async () => {
    for (const stop of stops.reverse().splice(0)) await stop();
    schedulers.length = 0;
    const { redis, dir, tap } = world();
    await tap.abandon();
    redis.disconnect();
    rmSync(dir, { recursive: true });
  }, 30_000);

  const first = () => {
    const [scheduler] = schedulers;
    if (!scheduler) throw new Error('start a scheduler first');
    return scheduler;
  };
  const decisionDeps = () => {
    const { ctx } = first();
    return { ...ctx, settings: { deadLetterTtlSec: 3_600 }, onPublishFailed: () => undefined };
  };

  const use = {
    servers: servers as Servers,
    broken,
    packets,
    get store() {
      return world().store;
    },
    get redis() {
      return world().redis;
    },
    /** The test's own connection to the bus. */
    get bus() {
      return world().tap;
    },

    /** Starts a scheduler under a policy; several can run at once. */
    async start({ policy, config, ...plan }: SchedulerPlan & { policy?: string; config?: object } = {}) {
      if (policy !== undefined) writeFileSync(policyPath(), policy);
      if (config) await use.config(config);
      const { redisUrl, natsUrl } = servers;
      const scheduler = await startScheduler({ redisUrl, natsUrl, policyPath: policyPath(), broken }, plan);
      schedulers.push(scheduler);
      stops.push(() => scheduler.stop());
      return scheduler;
    },

    /** Writes system settings, for schedulers that have not read them yet. */
    config: (data: object) => use.document('system', 'default', data),

    /** Writes the settings of one tenant, likewise. */
    orgConfig: (tenant: string, data: object) => use.document('org', tenant, data),

    /** Writes a config document, replacing an existing one. */
    async document(scope: string, scope_id: string, data: object): Promise<void> {
      const deps = { store: world().store, clock: systemClock() };
      await changeDocument(deps, { scope, scope_id }, () => ({ data: { ...data } }));
    },

    /** Replaces the policy; resolves once it is in effect. */
    async policy(text: string) {
      const [before] = await first().ctx.kernel.listSnapshots();
      writeFileSync(policyPath(), text);
      for (const { ctx } of schedulers) await policyChanged(ctx.kernel, before);
    },

    async submit(body: Partial<SubmitBody> = {}, tenant = 'acme', key?: string): Promise<string> {
      return (await use.submitted(body, tenant, key)).jobId;
    },

    /** A gateway that places permitted jobs itself. */
    async gateway(over: Partial<PlacementDeps> = {}): Promise<TestGateway> {
      const gateway = await startGateway(first(), servers.redisUrl, over);
      stops.push(() => gateway.stop());
      return gateway;
    },

    /** Submits to such a gateway. */
    async place(placement: NewJobPlacement, body: Partial<SubmitBody> = {}, tenant = 'acme'): Promise<string> {
      return (await use.submitted(body, tenant, undefined, placement)).jobId;
    },

    /** Submits through the service that the gateway calls. */
    submitted(
      body: Partial<SubmitBody> = {},
      tenant = 'acme',
      key?: string,
      placement?: NewJobPlacement,
      agentId?: string,
    ): Promise<SubmitOutcome> {
      const { ctx } = first();
      const { value } = (submitEndpoint.body ?? fail()).validate({ prompt: 'hello', topic: 'job.work', ...body });
      const { approvalTtlMs } = ctx.settings;
      const deps = {
        ...ctx,
        agents: {
          ...ctx,
          links: { find: async () => undefined },
          delegation: { keys: delegationKeys, maxDepth: 3 },
          mayImpersonate: () => true,
        },
        admission: admitAll,
        placement,
        settings: {
          policyFailMode: 'closed',
          idempotencyTtlSec: 60,
          approvalTtlMs,
          deadLetterTtlSec: 3_600,
          defaultDeadline: ctx.settings.defaultDeadline,
        } as const,
        onFailOpen: () => undefined,
      };
      return submitJob(deps, person('ann', { tenant }), value as SubmitBody, { idempotencyKey: key, agentId });
    },

    approve: (id: string, tenant = 'acme') =>
      approveJob(decisionDeps(), person('boss', { tenant }), id, { reason: 'fine', note: '' }),
    reject: (id: string, tenant = 'acme') =>
      rejectJob(decisionDeps(), person('boss', { tenant }), id, { reason: 'no', note: '' }),

    cancel: (id: string, tenant = 'acme') => cancelJob(decisionDeps(), tenant, id),

    /** A worker of the SDK; by default it echoes the prompt. */
    async worker(over: Partial<WorkerOptions> & { id: string }): Promise<Worker> {
      const worker = createWorker({
        pool: 'main',
        topics: { 'job.>': ({ prompt }) => ({ echo: prompt }) },
        natsUrl: servers.natsUrl,
        redisUrl: servers.redisUrl,
        heartbeatMs: 100,
        graceMs: 500,
        signals: [],
        onError: () => undefined,
        ...over,
      });
      await worker.start();
      stops.push(() => worker.stop());
      return worker;
    },

    async rawWorker(plan: RawWorkerPlan): Promise<RawWorker> {
      const worker = await startRawWorker(servers.natsUrl, plan);
      stops.push(() => worker.stop());
      return worker;
    },

    /** A raw worker that answers every job with this status. */
    rawAnswering: (status: JobResponse, over: JobResultDraft = {}, id = 'w1') =>
      use.rawWorker({ id, max: 10, answers: () => [status, over] }),

    async job(id: string): Promise<JobRecord> {
      const job = await world().store.jobs.load(id);
      if (!job) throw new Error(`there is no job ${id}`);
      return job;
    },

    /** Waits until the record has this state and these fields. */
    until: (id: string, state: JobState, fields: Partial<JobRecord> = {}): Promise<JobRecord> =>
      eventually(
        async () => {
          const job = await use.job(id);
          expect(job).toMatchObject({ state, ...fields });
          return job;
        },
        { withinMs: 15_000, everyMs: 15 },
      ),

    /** Packet bodies of a kind received on a subject, optionally of one job. */
    bodies<K extends PayloadKind>(kind: K, subject: string, jobId?: string): TypedPacket<K>['body'][] {
      return packets.flatMap((one) =>
        one.subject === subject && isOf(kind, one.packet) && (!jobId || getJobId(one.packet.body) === jobId)
          ? [one.packet.body]
          : [],
      );
    },

    /** Waits for the expected number of packets of a job. */
    published: <K extends PayloadKind>(kind: K, subject: string, jobId: string, count = 1) =>
      eventually(() => {
        const bodies = use.bodies(kind, subject, jobId);
        if (bodies.length !== count) throw new Error(`${bodies.length} of ${count} packets on ${subject}`);
        return bodies;
      }),

    /** Number of messages in the stream of workers' jobs for a subject. */
    async stored(subject: string): Promise<number> {
      const connection = await connect({ servers: servers.natsUrl });
      const manager = await connection.jetstreamManager();
      const { state } = await manager.streams.info(streams.jobs.name, { subjects_filter: subject });
      await connection.close();
      return state.subjects?.[subject] ?? 0;
    },

    deadLetter: (id: string) => world().store.deadLetters.get('*', id),

    /** State history of a job, oldest first. */
    path: async (id: string) => (await world().store.jobs.events(id)).map(({ to }) => to),

    /** Makes delayed queue entries due now. */
    async promote(queue: QueueName = 'jobs') {
      const handle = openQueue(queues[queue], { url: servers.redisUrl });
      await handle.promoteJobs();
      await handle.close();
    },
  };
  return use;
}

const fail = (): never => {
  throw new Error('the endpoint has no body');
};
const isOf = <K extends PayloadKind>(kind: K, packet: Packet): packet is Packet & TypedPacket<K> =>
  packet.kind === kind;
const getJobId = (body: object): unknown => ('job_id' in body ? body.job_id : undefined);
