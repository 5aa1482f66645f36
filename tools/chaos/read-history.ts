import { decodePacket, jobHash, streams, type JobRequest } from '@svc/contract';
import { queues } from '@svc/queues.config';
import { keys, type JobRecord, type Store } from '@svc/store';
import type { NatsConnection } from 'nats';
import { readAudit } from './read-audit';
import type { Dispatch, History, JobHistory, Outage, Spent } from './history';
import { readRuns } from './read-runs';
import type { World } from './world';

const atOnce = 200;

/** Parts of the history that are read from the stores. */
export async function readHistory(world: World, outages: readonly Outage[] = []): Promise<History> {
  const { store, bus, calls, answers } = world;
  const jobs = await readJobs(store);
  const runs = await readRuns(store);
  const dispatches = await readDispatches(bus, jobs);
  const money = await readMoney(store);
  const audit = await readAudit(store);
  const left = await readLeft(store, 0);
  return { calls, jobs, runs, outages, dispatches, answers, money, audit, mayWait: new Set(), left };
}

/** Spending and reservations per tenant, summed over the days of the accounts. */
async function readMoney({ redis, spend }: Store): Promise<Map<string, Spent>> {
  const days = (await scanKeys(redis, keys.spend('tenant:', '').replace(/:$/, ''))).flatMap((key) => {
    const [, tenant, period] = /^(.+):(\d{4}-\d\d-\d\d)$/.exec(key) ?? [];
    return tenant && period ? [{ tenant, account: `tenant:${tenant}`, period }] : [];
  });
  const read = await spend.read(days);
  const money = new Map<string, Spent>();
  days.forEach(({ tenant }, i) => {
    const before = money.get(tenant) ?? { spent: 0, reserved: 0 };
    const { spent = 0, reserved = 0 } = read[i] ?? {};
    money.set(tenant, { spent: before.spent + spent, reserved: before.reserved + reserved });
  });
  return money;
}

/** All job records with their transitions, decisions and dead letters. */
export async function readJobs(store: Store): Promise<Map<string, JobHistory>> {
  const ids = await jobIds(store);
  const jobs = new Map<string, JobHistory>();
  for (let from = 0; from < ids.length; from += atOnce) {
    const batch = ids.slice(from, from + atOnce);
    const read = await Promise.all(batch.map((id) => readJob(store, id)));
    batch.forEach((id, i) => {
      const job = read[i];
      if (job) jobs.set(id, job);
    });
  }
  return jobs;
}

const jobIds = ({ redis }: Store): Promise<string[]> => scanKeys(redis, keys.job(''));

/** All keys with the prefix, without it. */
async function scanKeys(redis: Store['redis'], prefix: string): Promise<string[]> {
  const ids = new Set<string>();
  let cursor = '0';
  do {
    const [next, found] = await redis.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', 1_000);
    for (const key of found) ids.add(key.slice(prefix.length));
    cursor = next;
  } while (cursor !== '0');
  return [...ids];
}

async function readJob({ jobs, deadLetters }: Store, id: string): Promise<JobHistory> {
  const [record, events, decisions, letter] = await Promise.all([
    jobs.load(id),
    jobs.events(id),
    jobs.decisions(id, 50),
    deadLetters.get('*', id),
  ]);
  return { record, events, decisions, deadLetter: letter === 'other_tenant' ? undefined : letter };
}

/** All dispatches stored on the bus, in order. */
export async function readDispatches(
  connection: NatsConnection,
  jobs: ReadonlyMap<string, JobHistory>,
): Promise<Dispatch[]> {
  const manager = await connection.jetstreamManager();
  const { state } = await manager.streams.info(streams.jobs.name);
  if (state.messages === 0) return [];
  const dispatches: Dispatch[] = [];
  const consumer = await connection.jetstream().consumers.get(streams.jobs.name);
  const messages = await consumer.consume();
  for await (const message of messages) {
    const decoded = decodePacket(message.data);
    const workerId = /^worker\.(.+)\.jobs$/.exec(message.subject)?.[1];
    if (workerId !== undefined && decoded.kind === 'ok' && decoded.packet.kind === 'job_request') {
      const { body, created_at_us } = decoded.packet;
      dispatches.push({
        jobId: body.job_id,
        workerId,
        dispatchId: body.env['SVC_DISPATCH_ID'] ?? '',
        attempt: Number(body.env['SVC_ATTEMPT'] ?? 0),
        sentUs: created_at_us,
        jobHash: hashRequest(body, jobs.get(body.job_id)?.record),
      });
    }
    // Not by sequence: the last messages may have been deleted.
    if (message.info.pending === 0) break;
  }
  await messages.close();
  return dispatches;
}

/** Hash of the job request, without the fields that a dispatch adds. */
function hashRequest(request: JobRequest, record: JobRecord | undefined): string {
  const env = Object.fromEntries(Object.entries(request.env).filter(([name]) => !name.startsWith('SVC_')));
  const budget = { ...request.budget, deadline_ms: record?.request.deadline_ms ?? 0 };
  return jobHash({ ...request, env, budget, identity: null });
}

const ofJobs = [queues.jobs, queues.jobWaiting, queues.jobApprovals, queues.jobRunning, queues.outputScan];
const ofRuns = [queues.runPasses, queues.runTimers];
const lists = ['wait', 'active', 'paused'];
const sortedSets = ['prioritized', 'delayed'];

/**
 * Leftovers, expected to be 0 after every job has ended: queue entries, slots, unpublished messages.
 *
 * @param waiting number of jobs that may remain open
 */
export async function readLeft({ redis }: Store, waiting: number): Promise<Record<string, number>> {
  const sum = async (counts: Promise<number>[]) => (await Promise.all(counts)).reduce((a, b) => a + b, 0);
  const entriesIn = (places: readonly { name: string }[]) =>
    sum(
      places.flatMap(({ name }) => [
        ...lists.map((list) => redis.llen(keys.queue(name, list))),
        ...sortedSets.map((set) => redis.zcard(keys.queue(name, set))),
      ]),
    );
  return {
    'queue entries': Math.max(0, (await entriesIn(ofJobs)) - waiting),
    'entries of passes and timers': await entriesIn(ofRuns),
    'passes and timers that failed for good': await sum(
      ofRuns.map(({ name }) => redis.zcard(keys.queue(name, 'failed'))),
    ),
    'runs under way': await redis.zcard(keys.liveRuns()),
    'timers of runs': await redis.zcard(keys.delayTimers()),
    'jobs in flight': await redis.scard(keys.allInFlight()),
    'unpublished messages': await redis.zcard(keys.intents()),
  };
}

/** Up to ten remaining entries of the queues of runs, as queue, state and id, and for delayed ones the time until they are due. */
export async function nameLeftPasses({ redis }: Store): Promise<string[]> {
  const named = ofRuns.flatMap(({ name }) => [
    ...lists.map(async (list) =>
      (await redis.lrange(keys.queue(name, list), 0, 9)).map((id) => `${name} ${list} ${id}`),
    ),
    ...sortedSets.map(async (set) => {
      const scored = await redis.zrange(keys.queue(name, set), '0', '9', 'WITHSCORES');
      return scored.flatMap((id, i) => {
        if (i % 2 === 1) return [];
        const dueMs = Math.floor(Number(scored[i + 1]) / 0x1000);
        return [`${name} ${set} ${id}${set === 'delayed' ? ` due in ${dueMs - Date.now()} ms` : ''}`];
      });
    }),
  ]);
  return (await Promise.all(named)).flat().slice(0, 10);
}
