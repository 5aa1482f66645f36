import { subjects } from '@svc/contract';
import { eventually } from '@svc/testing';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const today = () => new Date().toISOString().slice(0, 10);
const spent = async (account = 'tenant:acme') => {
  const [found] = await use.store.spend.read([{ account, period: today() }]);
  return { spent: found?.spent, reserved: found?.reserved };
};
const start = (budget: object) => use.start({ config: { budget } });

describe('a job whose tenant has a budget', () => {
  it('reserves its estimated cost before dispatch and spends the cost that its worker reports', async () => {
    await start({ daily_limit_usd: 10, cost_centers: ['research'] });
    const worker = await use.worker({
      id: 'w1',
      topics: {
        'job.>': async (job) => {
          job.cost(0.25);
          job.cost(0.5);
          return spent();
        },
      },
    });

    const id = await use.submit({ estimated_cost: 2, labels: { cost_center: 'research' } });

    const job = await use.until(id, 'SUCCEEDED', { cost: 750_000 });
    const body = await use.store.data.read(job.result_ptr ?? '', 1_000);
    expect(JSON.parse(body?.body.toString() ?? '')).toEqual({ spent: 0, reserved: 2_000_000 });
    expect(await spent()).toEqual({ spent: 750_000, reserved: 0 });
    const [account] = await use.store.spend.read([{ account: 'tenant:acme', period: today() }]);
    expect(account?.byCenter).toEqual({ research: 750_000 });
    expect(await spent('tenant:globex')).toEqual({ spent: 0, reserved: 0 });
    await worker.stop();
  });

  it('waits with throttle until other jobs release unused reservations', async () => {
    await start({ daily_limit_usd: 5 });
    const first = await use.submit({ estimated_cost: 4 });
    await use.until(first, 'PENDING', { waiting_reason: 'no_workers' });
    const second = await use.submit({ estimated_cost: 3 });

    const waiting = await use.until(second, 'PENDING', { waiting_reason: 'budget' });
    expect(waiting.over_budget).toMatchObject({ limit: 'daily_limit_usd', of: 'tenant acme', reserved: 4_000_000 });
    await use.rawAnswering('SUCCEEDED', { cost_usd: 1 });
    await use.until(first, 'SUCCEEDED', { cost: 1_000_000 });
    await use.promote();

    const done = await use.until(second, 'SUCCEEDED');
    expect(done.over_budget).toBeUndefined();
    expect(await spent()).toEqual({ spent: 2_000_000, reserved: 0 });
  });

  it('is denied with deny, with a dead letter that names the limit', async () => {
    await start({ monthly_limit_usd: 1, action_at_limit: 'deny' });

    const id = await use.submit({ estimated_cost: 2 });

    const job = await use.until(id, 'DENIED', { error_code: 'budget_exceeded' });
    expect(job.error_message).toContain('budget.monthly_limit_usd of tenant acme is $1');
    expect(await use.deadLetter(id)).toMatchObject({ reason_code: 'budget_exceeded' });
    expect(await spent()).toEqual({ spent: 0, reserved: 0 });
  });

  it('runs with alert, and each threshold is published once', async () => {
    await start({ daily_limit_usd: 4, action_at_limit: 'alert', alert_at_percent: [50] });
    await use.rawAnswering('SUCCEEDED', { cost_usd: 3 });

    for (let i = 0; i < 3; i++) await use.until(await use.submit(), 'SUCCEEDED');

    const alerts = await eventually(() => {
      const alerts = use.bodies('alert', subjects.alert.name).filter(({ message }) => message.includes('budget'));
      if (alerts.length < 2) throw new Error(`${alerts.length} alerts`);
      return alerts;
    });
    expect(alerts.map(({ message }) => message)).toEqual([
      `50 % of the budget of tenant:acme for ${today()} is used`,
      `100 % of the budget of tenant:acme for ${today()} is used`,
    ]);
    expect(alerts[0]?.details).toMatchObject({ limit_usd: '4', spent_usd: '3' });
  });

  it('releases its reservation when it is cancelled while it waits for a worker', async () => {
    await start({});
    const id = await use.submit({ estimated_cost: 2 });
    await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });
    expect(await spent()).toEqual({ spent: 0, reserved: 2_000_000 });

    await use.cancel(id);

    await use.until(id, 'CANCELLED');
    expect(await spent()).toEqual({ spent: 0, reserved: 0 });
  });

  it('is charged for every attempt, at the estimate when its worker reports no cost', async () => {
    await use.start({
      config: { budget: {}, retry: { max_retries: 1, initial_backoff: '1ms' } },
    });
    let tries = 0;
    await use.rawWorker({
      id: 'w1',
      answers: () => {
        tries += 1;
        return [tries === 1 ? 'FAILED_RETRYABLE' : 'SUCCEEDED', tries <= 2 ? { cost_usd: 0.5 } : {}];
      },
    });

    await use.until(await use.submit({ estimated_cost: 2 }), 'SUCCEEDED', { cost: 1_000_000, attempts: 2 });
    await use.until(await use.submit({ estimated_cost: 2 }), 'SUCCEEDED', { cost: 2_000_000 });

    expect(await spent()).toEqual({ spent: 3_000_000, reserved: 0 });
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 1e12])(
    'is charged the estimate when its worker reports a cost of %d',
    async (cost_usd) => {
      await start({});
      await use.rawAnswering('SUCCEEDED', { cost_usd });

      await use.until(await use.submit({ estimated_cost: 2 }), 'SUCCEEDED', { cost: 2_000_000 });
    },
  );
});

describe('a team', () => {
  it('has its own budget in addition to that of its tenant', async () => {
    await use.orgConfig('acme', { budget: { daily_limit_usd: 100 } });
    await use.document('team', 'ml', { budget: { daily_limit_usd: 1, action_at_limit: 'deny' } });
    await use.start();
    await use.rawAnswering('SUCCEEDED', { cost_usd: 1 });

    await use.until(await use.submit({ team_id: 'ml', estimated_cost: 1 }), 'SUCCEEDED');
    const beyond = await use.submit({ team_id: 'ml', estimated_cost: 1 });
    const other = await use.submit({ estimated_cost: 1 });

    const job = await use.until(beyond, 'DENIED', { error_code: 'budget_exceeded' });
    expect(job.over_budget).toMatchObject({ of: 'team ml', amount: 1_000_000 });
    await use.until(other, 'SUCCEEDED');
    expect(await spent()).toEqual({ spent: 2_000_000, reserved: 0 });
  });
});
