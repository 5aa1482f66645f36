import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

const api = useApi();
const path = '/api/v1/budgets';
const set = (budget: object, more: object = { scope: 'org' }, as = api.as('admin')) =>
  as.post('/api/v1/config', { ...more, data: { budget } });
const submit = (body: object, as = api.as('admin')) => as.post('/api/v1/jobs', { prompt: 'x', ...body });

describe('GET /api/v1/budgets', () => {
  it('200: empty if no document sets a budget', async () => {
    expect((await api.as('operator').get(path)).body).toEqual({
      items: [],
      per_job_max_usd: 0,
      per_workflow_max_usd: 0,
    });
  });

  it('200: usage by day, month and cost centre, for the caller’s tenant only', async () => {
    await set({ daily_limit_usd: 10, monthly_limit_usd: 0, cost_centers: ['research'] });
    await set({ daily_limit_usd: 3 }, { scope: 'org' }, api.as('other'));
    const today = new Date().toISOString().slice(0, 10);
    await api.store.redis.hset(`{s0}:spend:tenant:acme:${today}`, {
      ...{ spent: 2_500_000, reserved: 4_000_000, 'center:research': 1_500_000, 'told:50': 1 },
    });

    const { body } = await api.as('admin').get(path);

    expect(body).toMatchObject({
      per_job_max_usd: 5,
      per_workflow_max_usd: 50,
      items: [
        {
          ...{ scope: 'tenant', id: 'acme', period: 'day', period_name: today, action_at_limit: 'throttle' },
          ...{ limit_usd: 10, spent_usd: 2.5, reserved_usd: 4, remaining_usd: 3.5, used_percent: 65 },
          ...{ alerted_percents: [50], by_cost_center: { research: 1.5 } },
        },
        { period: 'month', period_name: today.slice(0, 7), limit_usd: 0, remaining_usd: null, used_percent: null },
      ],
    });
    const other = (await api.as('other').get(path)).body as { items: object[] };
    expect(other.items[0]).toMatchObject({ id: 'globex', limit_usd: 3, spent_usd: 0, by_cost_center: {} });
  });

  it('200: including budgets of a team and a workflow, not of another tenant', async () => {
    await set({ daily_limit_usd: 1 }, { scope: 'team', scope_id: 'ml' });
    await set({ daily_limit_usd: 2 }, { scope: 'workflow', scope_id: 'etl' });
    const scopes = async (as: ReturnType<typeof api.as>) => {
      const { items } = (await as.get(`${path}?team_id=ml&workflow_id=etl`)).body as { items: { scope: string }[] };
      return items.map(({ scope }) => scope);
    };

    expect(await scopes(api.as('admin'))).toEqual(['team', 'team', 'workflow', 'workflow']);
    expect(await scopes(api.as('other'))).toEqual([]);
  });

  it('403: callers without permission', async () => {
    expect((await api.as('viewer').get(path)).status).toBe(403);
  });
});

describe('POST /api/v1/jobs with an estimate', () => {
  it('403 budget_exceeded: an estimate over the limit per job; accepted at the limit and without a budget', async () => {
    expect((await submit({ estimated_cost: 1_000 })).status).toBe(200);
    await set({ per_job_max_usd: 2 });

    expect((await submit({ estimated_cost: 2 })).status).toBe(200);
    const refused = await submit({ estimated_cost: 2.01 });

    expect(statusAndCode(refused)).toMatchObject({ status: 403 });
    expect(refused.body).toMatchObject({
      ...{ error: expect.stringContaining('cost'), limit: 'per_job_max_usd', limit_usd: 2, estimated_usd: 2.01 },
    });
  });

  it('200: with action alert nothing is rejected, and the job shows its estimate', async () => {
    await set({ per_job_max_usd: 2, action_at_limit: 'alert' });

    const { job_id: id } = (await submit({ estimated_cost: 3 })).body as { job_id: string };

    expect((await api.as('admin').get(`/api/v1/jobs/${id}`)).body).toMatchObject({ estimated_cost: 3 });
  });

  it.each([-1, 'much', 1e9])('400: invalid estimate %j', async (estimated_cost) => {
    expect((await submit({ estimated_cost })).status).toBe(400);
  });
});
