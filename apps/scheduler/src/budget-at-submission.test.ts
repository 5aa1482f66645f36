import { repairOpenJobs } from '@svc/dispatch';
import type { NewJobPlacement } from '@svc/jobs';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const today = () => new Date().toISOString().slice(0, 10);
const spending = async () => {
  const [found] = await use.store.spend.read([{ account: 'tenant:acme', period: today() }]);
  return { spent: found?.spent, reserved: found?.reserved };
};

async function gatewayWith(workerId: string) {
  const gateway = await use.gateway();
  await gateway.knows(workerId);
  return gateway;
}

/** A gateway that is killed after the accepting call. */
const killed = (placement: NewJobPlacement): NewJobPlacement => ({
  async propose(job) {
    const proposal = await placement.propose(job);
    return proposal && { place: proposal.place, settle: () => undefined };
  },
});

describe('a permitted job whose tenant has a budget', () => {
  it('reserves in the call that accepts and dispatches it, without a scheduler', async () => {
    await use.start({ idle: true, config: { budget: { daily_limit_usd: 10 } } });
    const worker = await use.rawWorker({ id: 'w1' });
    const { placement } = await gatewayWith('w1');

    const id = await use.place(placement, { estimated_cost: 2 });

    expect(await use.job(id)).toMatchObject({ worker_id: 'w1', attempts: 1, decided: 'submission' });
    expect(await spending()).toEqual({ spent: 0, reserved: 2_000_000 });
    await worker.dispatched(id);
  });

  it('reserves when it waits in its lane, and is dispatched and settled from there', async () => {
    await use.start({ config: { budget: { daily_limit_usd: 10 } } });
    const { placement } = await use.gateway();
    const id = await use.place(placement, { estimated_cost: 2 });
    expect(await use.job(id)).toMatchObject({ parked: 'jobWaiting', decided: 'submission' });
    expect(await spending()).toEqual({ spent: 0, reserved: 2_000_000 });

    await use.rawAnswering('SUCCEEDED', { cost_usd: 1 });

    await use.until(id, 'SUCCEEDED', { cost: 1_000_000 });
    expect(await spending()).toEqual({ spent: 1_000_000, reserved: 0 });
  });

  it('goes to the scheduler when it does not fit, which lets it wait until money is released', async () => {
    await use.start({ config: { budget: { daily_limit_usd: 5 } } });
    const worker = await use.rawWorker({ id: 'w1', max: 5 });
    const { placement } = await gatewayWith('w1');
    const first = await use.place(placement, { estimated_cost: 4 });

    const second = await use.place(placement, { estimated_cost: 3 });

    const waiting = await use.until(second, 'PENDING', { waiting_reason: 'budget' });
    expect(waiting.over_budget).toMatchObject({ limit: 'daily_limit_usd', of: 'tenant acme', reserved: 4_000_000 });
    await worker.answer(await worker.dispatched(first), 'SUCCEEDED', { cost_usd: 1 });
    await use.until(first, 'SUCCEEDED', { cost: 1_000_000 });
    await use.promote();
    await worker.dispatched(second);
    expect(await spending()).toEqual({ spent: 1_000_000, reserved: 3_000_000 });
  });

  it('is denied with deny, with a dead letter that names the limit', async () => {
    await use.start({ config: { budget: { monthly_limit_usd: 1, action_at_limit: 'deny' } } });
    await use.rawWorker({ id: 'w1' });
    const { placement } = await gatewayWith('w1');

    const id = await use.place(placement, { estimated_cost: 2 });

    await use.until(id, 'DENIED', { error_code: 'budget_exceeded' });
    expect(await use.deadLetter(id)).toMatchObject({ reason_code: 'budget_exceeded' });
    expect(await spending()).toEqual({ spent: 0, reserved: 0 });
  });
});

describe('two gateways', () => {
  it('compete for the last dollar, and one of them gets it', async () => {
    await use.start({ config: { budget: { daily_limit_usd: 1 } } });
    await use.rawWorker({ id: 'w1', max: 5 });
    const gateways = [await gatewayWith('w1'), await gatewayWith('w1')];

    const ids = await Promise.all(gateways.map(({ placement }) => use.place(placement, { estimated_cost: 1 })));

    const jobs = await Promise.all(ids.map((id) => use.job(id)));
    const other = ids[jobs.findIndex(({ worker_id }) => worker_id === undefined)] ?? '';
    expect(jobs.filter(({ worker_id }) => worker_id === 'w1')).toHaveLength(1);
    await use.until(other, 'PENDING', { waiting_reason: 'budget' });
    expect(await spending()).toEqual({ spent: 0, reserved: 1_000_000 });
  });
});

describe('a gateway that is killed after the accepting call', () => {
  it('leaves one reservation, which the end of the job settles', async () => {
    const { later } = await use.start({ withoutLoops: true, config: { budget: { daily_limit_usd: 5 } } });
    await use.rawAnswering('SUCCEEDED', { cost_usd: 1 }, 'w1');
    const { placement } = await gatewayWith('w1');

    const id = await use.place(killed(placement), { estimated_cost: 2 });

    expect(await use.job(id)).toMatchObject({ state: 'DISPATCHED', worker_id: 'w1' });
    expect(await spending()).toEqual({ spent: 0, reserved: 2_000_000 });
    await repairOpenJobs(later(11_000));
    await repairOpenJobs(later(22_000));
    await use.until(id, 'SUCCEEDED', { attempts: 1 });
    expect(await spending()).toEqual({ spent: 1_000_000, reserved: 0 });
  });
});
