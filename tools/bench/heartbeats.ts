import { hash } from '@node-rs/argon2';
import {
  bootIdLabel,
  ComponentRole,
  dispatchEchoLabel,
  encodePacket,
  handshakePacket,
  heartbeatPacket,
  inlineDataLabel,
  protocolVersion,
  storeAccessLabel,
  subjects,
} from '@svc/contract';
import { newWorkerToken } from '@svc/identity';
import { openPacketSigner, parseServerList, type PacketSigner } from '@svc/jetstream';
import { queues } from '@svc/queues.config';
import { openStore, type Store } from '@svc/store';
import { toStoredToken, WorkerTrustRepository } from '@svc/worker-trust';
import { Redis } from 'ioredis';
import { connect, type NatsConnection } from 'nats';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startStack } from '../stack';
import { coreServices } from '../stack/settings';
import { cpuUs } from './process-cost';

const HEARTBEAT_MS = 5_000;
/** As the SDK does: every sixth heartbeat has a handshake. */
const HEARTBEATS_PER_HANDSHAKE = 6;
/** Share of a core that the row allows for heartbeats. */
const SHARE_OF_CORE = 0.2;
const POOL = 'demo';

export interface HeartbeatLoad {
  workers: number;
  /** Intervals that are measured; one before them is not. */
  intervals: number;
  /** Packets are signed, and SVC_PACKET_SIGNATURES=enforce verifies that. */
  isSigned: boolean;
  say(text: string): void;
}

interface FleetWorker {
  id: string;
  token: string;
  boot: string;
  signer: PacketSigner | undefined;
}

/**
 * Workers whose heartbeats one scheduler handles with a fifth of a core: the CPU time of a scheduler that receives the
 * heartbeats and handshakes of all these workers, at the rate and with the content of the SDK, and scaled to that share.
 *
 * @throws Error unless the scheduler has admitted every worker's heartbeat of the last interval
 */
export async function heartbeatCapacity({ workers: count, intervals, isSigned, say }: HeartbeatLoad): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-heartbeats-'));
  const stack = await startStack({
    dataDir,
    tls: false,
    usualPorts: false,
    services: coreServices.filter(({ name }) => name === 'scheduler'),
    env: {
      ...process.env,
      REDIS_URL: '',
      NATS_URL: '',
      SVC_LOG_LEVEL: 'warn',
      WORKER_ATTESTATION: 'enforce',
      ...(isSigned && { SVC_PACKET_SIGNATURES: 'enforce', SVC_PACKET_SIGNING_KEY: newKey().secret }),
    },
    onProgress: say,
    onLine: (name, line) => (name === 'scheduler' ? say(`${name}: ${line}`) : undefined),
  });
  const { nats_url, redis_url, pids, tenant } = stack.info;
  const redis = new Redis(redis_url);
  const { servers, credentials } = parseServerList(nats_url);
  const connection = await connect({ servers, ...credentials });
  try {
    const store = openStore(redis, queues, { metaSec: 60, dataSec: 60 });
    const workers = await createWorkers(redis, tenant, count, isSigned);
    await untilAllLive(connection, store, workers);
    const beats = new Beats(connection, workers);
    await beats.send(1);
    const pid = pids['scheduler'] ?? 0;
    const [startedMs, startedUs] = [performance.now(), cpuUs(pid)];
    await beats.send(intervals);
    const [tookMs, tookUs] = [performance.now() - startedMs, cpuUs(pid) - startedUs];
    const missing = await awaitSnapshot(store, count, Date.now() - HEARTBEAT_MS);
    if (missing > 0) throw new Error(`${missing} of ${count} workers have no admitted heartbeat of the last interval`);
    const share = tookUs / 1_000 / tookMs;
    const rate = (count * intervals * 1_000) / tookMs;
    say(`${count} workers, ${rate.toFixed(0)} heartbeats/s: ${(share * 100).toFixed(1)} % of a core`);
    return (count * SHARE_OF_CORE) / share;
  } finally {
    await connection.close();
    redis.disconnect();
    await stack.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/**
 * Argon2id at a low cost: a hash is verified once, before the measurement, with the cost that it states. At the usual one,
 * two thousand workers take some minutes.
 */
const hashCheaply = (token: string) => hash(token, { memoryCost: 8, timeCost: 1, parallelism: 1 });

function newKey(): { secret: string; pem: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return {
    secret: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    pem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

async function createWorkers(redis: Redis, tenant: string, count: number, isSigned: boolean): Promise<FleetWorker[]> {
  const trust = new WorkerTrustRepository(redis);
  return Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const id = `bench-${i}`;
      const token = newWorkerToken();
      const key = isSigned ? newKey() : undefined;
      const credential = {
        worker_id: id,
        tenant_id: tenant,
        allowed_pools: [POOL],
        allowed_topics: ['job.>'],
        public_keys: key ? [key.pem] : [],
        created_by: 'bench',
        created_at: new Date().toISOString(),
      };
      await trust.write('*', { credential, token: await toStoredToken(token, hashCheaply), maxWorkers: 0 });
      return { id, token, boot: randomUUID(), signer: key && openPacketSigner(key.secret) };
    }),
  );
}

/** Resolves when the scheduler has read and verified every credential. */
async function untilAllLive(connection: NatsConnection, store: Store, workers: readonly FleetWorker[]): Promise<void> {
  const endMs = Date.now() + 60_000;
  for (;;) {
    for (const worker of workers) publishBeat(connection, worker, false);
    await connection.flush();
    if ((await awaitSnapshot(store, workers.length, 0)) === 0) return;
    if (Date.now() > endMs) throw new Error('the scheduler does not admit all workers');
  }
}

/** Waits for a snapshot of the scheduler with heartbeats of all workers since then. @returns the workers without one */
async function awaitSnapshot(store: Store, count: number, sinceMs: number): Promise<number> {
  let missing = count;
  for (let waitedMs = 0; waitedMs < 10_000 && missing > 0; waitedMs += 200) {
    await sleep(200);
    missing = await countSilent(store, count, sinceMs);
  }
  return missing;
}

/** Workers of the scheduler's snapshot that have sent no heartbeat since then, and those that are not in it. */
async function countSilent({ workers }: Store, count: number, sinceMs: number): Promise<number> {
  const listed = (await workers.snapshot())?.workers ?? [];
  return count - listed.filter(({ last_heartbeat_ms: atMs }) => atMs >= sinceMs).length;
}

/** Sends heartbeats at an even rate, as many workers do together. */
class Beats {
  private sent = 0;

  constructor(
    private readonly connection: NatsConnection,
    private readonly workers: readonly FleetWorker[],
  ) {}

  /** Every worker sends one in each interval. */
  async send(intervals: number): Promise<void> {
    const { workers, connection } = this;
    const perMs = workers.length / HEARTBEAT_MS;
    const [firstMs, before] = [performance.now(), this.sent];
    const total = workers.length * intervals;
    for (;;) {
      const due = Math.min(total, Math.floor((performance.now() - firstMs) * perMs));
      for (; this.sent - before < due; this.sent++) {
        const worker = workers[this.sent % workers.length];
        const round = Math.floor(this.sent / workers.length);
        if (worker) publishBeat(connection, worker, (this.sent + round) % HEARTBEATS_PER_HANDSHAKE === 0);
      }
      if (this.sent - before === total) break;
      await sleep(5);
    }
    await connection.flush();
  }
}

function publishBeat(
  connection: NatsConnection,
  { id, token, boot, signer }: FleetWorker,
  withHandshake: boolean,
): void {
  const seal = (bytes: Uint8Array) => signer?.seal(bytes) ?? bytes;
  const head = { trace_id: '', sender_id: id, nowUs: Date.now() * 1_000, auth_token: token };
  const beat = {
    worker_id: id,
    pool: POOL,
    max_parallel_jobs: 8,
    capabilities: ['demo'],
    labels: {
      [bootIdLabel]: boot,
      [dispatchEchoLabel]: 'true',
      [inlineDataLabel]: 'true',
      [storeAccessLabel]: 'true',
    },
    cpu_load: 12.5,
    memory_load: 40.25,
    auth_token: token,
    agent_name: '',
  };
  connection.publish(subjects.heartbeat.name, seal(encodePacket(heartbeatPacket(head, beat))));
  if (!withHandshake) return;
  const shake = {
    component_id: id,
    role: ComponentRole.COMPONENT_ROLE_WORKER,
    supported_versions: [protocolVersion],
    capabilities: Object.fromEntries(['progress', 'cancel', 'error_codes', 'heartbeats'].map((name) => [name, true])),
    ready_topics: ['job.demo.*'],
  };
  connection.publish(subjects.handshake.name, seal(encodePacket(handshakePacket(head, shake))));
}
