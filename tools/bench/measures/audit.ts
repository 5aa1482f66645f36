import { Sealer, verifyWhole } from '@svc/audit';
import { queues } from '@svc/queues.config';
import { openStore, type Store } from '@svc/store';
import { startRedis } from '@svc/testing';
import { Redis } from 'ioredis';
import { readFileSync } from 'node:fs';
import type { Session } from '../session';
import { exportRate } from './audit-export';
import { costed, cpuPerJob } from './cpu';

/** Changes that one call of a script records in a drain. */
const LINES_PER_ENTRY = 24;
/** A job in a drain: accepted with its decision, dispatched, ended. */
const EVENTS_PER_JOB = 3;

interface AuditRates {
  appendPerSec: number;
  verifyPerSec: number;
  /** MB/s over HTTP. */
  exportRate: number;
  /** CPU of the sealing process and of Redis, per event. */
  appendCpuUs: number;
}

/** Seals and verifies the events of jobs as a drain records them, on a Redis that is synced at every write. */
const rates = async (session: Session): Promise<AuditRates> => {
  const server = await startRedis();
  const redis = new Redis(server.url);
  try {
    const redisPid = Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]);
    const store = openStore(redis, queues, { metaSec: 60, dataSec: 60 });
    const sealer = new Sealer(store.audit);
    await fill(store, 1_000);
    await sealer.seal();
    const count = session.sizes.auditEvents;
    await fill(store, count);
    const cpuBefore = readCpuUs(redisPid);
    const startedMs = performance.now();
    const sealed = await sealer.seal();
    const sealMs = performance.now() - startedMs;
    const cpuUs = readCpuUs(redisPid) - cpuBefore;
    if (sealed !== count) throw new Error(`the sealer appended ${sealed} of ${count} events`);
    const deps = { hmacKey: undefined, witnesses: () => Promise.resolve([]), retentionHours: () => undefined };
    const verifyStartedMs = performance.now();
    const report = await verifyWhole({ store, sealer, ...deps }, 'default');
    const verifyMs = performance.now() - verifyStartedMs;
    if (report.status !== 'ok') throw new Error(`the chain is ${report.status}`);
    return {
      appendPerSec: (count / sealMs) * 1_000,
      exportRate: await exportRate(store, sealer, count),
      verifyPerSec: (report.verified_events / verifyMs) * 1_000,
      appendCpuUs: cpuUs / count,
    };
  } finally {
    redis.disconnect();
    await server.stop();
  }
};

/** CPU time of this process and of Redis, µs. */
function readCpuUs(redisPid: number): number {
  const { user, system } = process.cpuUsage();
  const fields = readFileSync(`/proc/${redisPid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return user + system + (Number(fields[11]) + Number(fields[12])) * 10_000;
}

async function fill({ redis, keys }: Store, count: number): Promise<void> {
  const decision = {
    decision: 'ALLOW',
    source: 'gateway',
    rule_id: 'allow-default',
    reason: 'allowed',
    policy_snapshot: 'f'.repeat(64),
    checked_at: 1,
  };
  const request = {
    topic: 'job.default',
    priority: 'interactive',
    risk_tags: [],
    requires: [],
    labels: { team: 'ml' },
    principal_id: 'ann',
    env: {},
  };
  const line = (i: number) => {
    const [id, us] = [
      `00000000-0000-4000-8000-${String(Math.floor(i / 3)).padStart(12, '0')}`,
      1_790_000_000_000_000 + i,
    ];
    const [event, from, to] =
      [
        ['submit', '', 'PENDING'],
        ['dispatch', 'PENDING', 'DISPATCHED'],
        ['succeed', 'DISPATCHED', 'SUCCEEDED'],
      ][i % 3] ?? [];
    const decided =
      i % 3 === 0
        ? [
            JSON.stringify(decision),
            '',
            JSON.stringify(request),
            'apikey:0123456789abcdef|principal:ann',
            'a'.repeat(64),
          ]
        : ['', ''];
    return [
      'job',
      'default',
      us,
      id,
      event,
      from,
      to,
      'job.default',
      '',
      1,
      i % 3 === 0 ? '' : 'bench-1',
      '',
      ...decided,
    ].join('\t');
  };
  for (let i = 0; i < count; i += LINES_PER_ENTRY) {
    const lines = Array.from({ length: Math.min(LINES_PER_ENTRY, count - i) }, (_, k) => line(i + k)).join('\n');
    void redis.xadd(keys.auditOutbox(), '*', 'lines', lines);
    if (i % 24_000 === 0) await redis.ping();
  }
  await redis.ping();
}

const results = new WeakMap<Session, Promise<AuditRates>>();
const once = (session: Session): Promise<AuditRates> => {
  const known = results.get(session) ?? rates(session);
  results.set(session, known);
  return known;
};

/** Events per second that one process appends to a chain, in the batches of a drain. */
export const auditAppend = async (session: Session): Promise<number> => (await once(session)).appendPerSec;

/** Events per second that are verified. */
export const auditVerify = async (session: Session): Promise<number> => (await once(session)).verifyPerSec;

/** MB/s of an export of a chain over HTTP. */
export const auditExport = async (session: Session): Promise<number> => (await once(session)).exportRate;

/** The share of a job's CPU that sealing its events takes, in percent. */
export const auditCpu = async (session: Session): Promise<number> =>
  ((await once(session)).appendCpuUs * EVENTS_PER_JOB * 100) / (await cpuPerJob(...costed)(session));
