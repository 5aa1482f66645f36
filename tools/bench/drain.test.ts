import { keys } from '@svc/store';
import { runDrain } from './drain';
import { observerName, Product } from './product';
import { getAddresses, CallCounter, sum } from './redis-counts';

const jobs = 300;
/** Redis budget per job, including the idle loops of gateway and scheduler. Lower it with the cost. */
const MAX_CALLS = 3;
const MAX_COMMANDS = 70;

describe('a drain through the whole product', () => {
  let product: Product;
  beforeAll(async () => {
    product = await Product.start({ say: () => undefined, workerConcurrency: 16 });
  }, 120_000);
  afterAll(() => product?.stop(), 30_000);

  it(`ends every job once, at ${MAX_CALLS} calls and ${MAX_COMMANDS} commands in Redis at the most`, async () => {
    const { redis, stack } = product;
    const counter = await CallCounter.open(stack.info.redis_url, await getAddresses(redis, observerName));

    const { jobs: done, commands, cpuUs } = await runDrain(product, jobs);
    const calls = sum(await counter.close());

    expect(done).toBe(jobs);
    expect(calls / jobs).toBeLessThanOrEqual(MAX_CALLS);
    expect(commands / jobs).toBeLessThanOrEqual(MAX_COMMANDS);
    // A budget only has meaning if something was counted.
    expect(calls).toBeGreaterThan(0);
    expect(commands / jobs).toBeGreaterThan(20);
    expect(commands).toBeGreaterThan(calls);
    expect(Object.keys(cpuUs).sort()).toEqual(['api', 'engine', 'nats', 'redis', 'scheduler', 'worker']);
  }, 60_000);

  it('fails when a job is missing from the list of ended jobs', async () => {
    const succeeded = keys.jobsInState(product.stack.info.tenant, 'SUCCEEDED');
    const lose = async () => void (await product.redis.zpopmax(succeeded));

    await expect(runDrain(product, jobs, { afterDrain: lose })).rejects.toThrow('ended otherwise');
  }, 60_000);
});
