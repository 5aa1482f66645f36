import { countLoneCalls, countLoneCommands } from './lone-counts';
import { Product } from './product';
import { commonChain } from './trace/messages';
import { Recording, recordRoundTrips } from './trace/record';

const trips = 100;

/** Sequential messages from the POST of a job to the response with its result. */
const messages = [
  'client → api: POST /api/v1/jobs',
  'api → redis: fcall accept',
  'redis → api: reply',
  'api → nats: worker.bench-1.jobs',
  'nats → worker: worker.bench-1.jobs',
  'worker → nats: sys.job.result',
  'nats → scheduler: sys.job.result',
  'scheduler → redis: fcall move',
  'redis → api: endings',
  'api → client: response',
];

/** Calls of the processes to Redis per job; those of BullMQ's own scripts are `evalsha`. */
const calls = { fcall: 2 };

/** Commands in Redis per job, including those inside scripts. */
const commands = {
  ...{ del: 1, exists: 4, expire: 2, fcall: 2, get: 1, hexists: 1, hmget: 3 },
  ...{
    hset: 4,
    lpush: 1,
    publish: 1,
    sadd: 2,
    scard: 1,
    set: 2,
    // Whether the tenant is under a legal hold, and whether it is suspended.
    sismember: 2,
    smembers: 1,
    smismember: 1,
    srem: 1,
    time: 2,
    // One for each batch, one for each of three audit events, and one for the decision log.
    xadd: 6,
    zadd: 5,
    zrem: 3,
  },
};

/** Less than one command per job, and more than what timers of the product add to single jobs. */
const tolerance = 0.75;

/** The counts that differ from the expected ones by more than the tolerance, and all others as expected. */
function differences(counted: ReadonlyMap<string, number>, expected: Record<string, number>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [name, count] of counted) {
    const command = name.split(' ')[0] ?? '';
    counts[command] = (counts[command] ?? 0) + count;
  }
  const names = new Set([...Object.keys(expected), ...Object.keys(counts)]);
  const rows = [...names].map((name) => {
    const [wanted, count] = [expected[name] ?? 0, counts[name] ?? 0];
    return [name, Math.abs(count - wanted) < tolerance ? wanted : Number(count.toFixed(2))] as const;
  });
  return Object.fromEntries(rows.filter(([, count]) => count !== 0));
}

/** What one job costs when nothing else runs. Change a list together with the path of a job. */
describe('a lone round trip', () => {
  const recording = new Recording();
  let product: Product;
  beforeAll(async () => {
    product = await Product.start({ say: () => undefined, workerConcurrency: 16, env: recording.env });
  }, 120_000);
  afterAll(async () => {
    await product?.stop();
    recording.close();
  }, 30_000);

  it('takes these messages, one after another', async () => {
    const chains = await recordRoundTrips(product, recording, trips);

    // The client's wait and the write of RUNNING form a chain of the same length, which is often the later one.
    const throughWorker = chains.filter((chain) => chain.some((message) => message.includes('worker')));
    expect(commonChain(throughWorker)).toEqual(messages);
    expect(commonChain(chains)).toHaveLength(messages.length);
  }, 120_000);

  it('makes these calls to Redis', async () => {
    expect(differences(await countLoneCalls(product, trips), calls)).toEqual(calls);
  }, 120_000);

  it('executes these commands in Redis', async () => {
    expect(differences(await countLoneCommands(product, trips), commands)).toEqual(commands);
  }, 120_000);
});
