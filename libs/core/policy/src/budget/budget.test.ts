import fc from 'fast-check';
import {
  listAccounts,
  collectBudgets,
  budgetTerms,
  getCostCenter,
  getEstimate,
  checkJobSize,
  toMicros,
  toUsd,
} from './budget';

const document = (scope: string, budget: unknown, scope_id = 'x') => ({ scope, scope_id, data: { budget } });

describe('a section budget', () => {
  it('uses the default for every omitted setting', () => {
    expect(budgetTerms({ daily_limit_usd: 3 })).toEqual({
      dailyLimit: 3_000_000,
      monthlyLimit: 10_000_000_000,
      perJobMax: 5_000_000,
      perRunMax: 50_000_000,
      alertAtPercent: [50, 75, 90, 100],
      action: 'throttle',
      isAttributed: true,
      costCenters: [],
    });
  });

  it('always alerts at the limit itself, in order and once', () => {
    expect(budgetTerms({ alert_at_percent: [80, 20, 80, 0] }).alertAtPercent).toEqual([20, 80, 100]);
  });

  it('uses the default for values that cannot be read', () => {
    const broken = { daily_limit_usd: '3', per_job_max_usd: -1, alert_at_percent: 'x', action_at_limit: 'explode' };

    expect(budgetTerms(broken)).toEqual(budgetTerms({}));
  });
});

describe('the budgets of a job', () => {
  it('are absent when no document sets one', () => {
    expect(collectBudgets('acme', [{ scope: 'system', scope_id: 'default', data: { retry: {} } }])).toBeUndefined();
    expect(collectBudgets('acme', [document('system', null), document('org', [])])).toBeUndefined();
  });

  it('prefer the tenant’s own over the installation’s, and add those of its team and workflow', () => {
    const budgets = collectBudgets('acme', [
      document('system', { daily_limit_usd: 100 }, 'default'),
      document('org', { daily_limit_usd: 10 }, 'acme'),
      document('team', { daily_limit_usd: 50 }, 'ml'),
      document('workflow', { daily_limit_usd: 1 }, 'etl'),
      document('step', { per_job_max_usd: 2 }, 'weigh'),
    ]);

    expect(budgets?.layers.map(({ scope, id, terms }) => [scope, id, toUsd(terms.dailyLimit)])).toEqual([
      ['tenant', 'acme', 10],
      ['team', 'ml', 50],
      ['workflow', 'etl', 1],
    ]);
    expect(toUsd(budgets?.nearest.perJobMax ?? 0)).toBe(2);
  });
});

describe('limits per job and per run', () => {
  const nearest = (...documents: ReturnType<typeof document>[]) => {
    const { perJobMax = 0, perRunMax = 0, action } = collectBudgets('acme', documents)?.nearest ?? {};
    return [toUsd(perJobMax), toUsd(perRunMax), action];
  };

  it('of the tenant cannot be raised, lifted or bypassed by a team that the submitter names', () => {
    const own = document('org', { per_job_max_usd: 2, per_workflow_max_usd: 9 });

    for (const max of [100, 0]) {
      const lax = { per_job_max_usd: max, per_workflow_max_usd: max, action_at_limit: 'alert' };
      expect(nearest(own, document('team', lax))).toEqual([2, 9, 'throttle']);
    }
    expect(nearest(own, document('team', { per_job_max_usd: 1, action_at_limit: 'deny' }))).toEqual([1, 9, 'deny']);
  });

  it('come from the narrowest document when no wider one sets them', () => {
    const lax = { per_job_max_usd: 0, per_workflow_max_usd: 70, action_at_limit: 'alert' };

    expect(nearest(document('org', { daily_limit_usd: 3 }), document('workflow', lax))).toEqual([0, 70, 'alert']);
    expect(nearest(document('system', { per_job_max_usd: 1 }), document('org', lax))).toEqual([0, 70, 'alert']);
  });
});

describe('the size of a job', () => {
  it.each([
    [{ per_job_max_usd: 2 }, 2, 'fits'],
    [{ per_job_max_usd: 2 }, 2.000001, 'too_large'],
    [{ per_job_max_usd: 2, action_at_limit: 'alert' }, 3, 'alert'],
    [{ per_job_max_usd: 0 }, 1e6, 'fits'],
  ])('with %j and an estimate of %d: %s', (section, usd, expected) => {
    expect(checkJobSize(budgetTerms(section), toMicros(usd))).toBe(expected);
  });
});

describe('an account', () => {
  it.each([
    ['2026-11-22T23:59:59.999Z', '2026-11-22', '2026-11-23T00:00:00.000Z', '2026-11', '2026-12-01T00:00:00.000Z'],
    ['2026-12-31T12:00:00.000Z', '2026-12-31', '2027-01-01T00:00:00.000Z', '2026-12', '2027-01-01T00:00:00.000Z'],
    ['2028-02-29T00:00:00.000Z', '2028-02-29', '2028-03-01T00:00:00.000Z', '2028-02', '2028-03-01T00:00:00.000Z'],
  ])('at %s counts in a day and a month, UTC', (now, day, dayEnds, month, monthEnds) => {
    const budgets = collectBudgets('acme', [document('org', { monthly_limit_usd: 7 })]);

    const accounts = listAccounts(budgets?.layers ?? [], Date.parse(now));

    expect(accounts).toMatchObject([
      { period: 'day', name: day, endsMs: Date.parse(dayEnds), limit: 1_000_000_000 },
      { period: 'month', name: month, endsMs: Date.parse(monthEnds), limit: 7_000_000 },
    ]);
  });
});

describe('an estimate', () => {
  it.each([
    [{ labels: {} }, 0],
    [{ estimated_cost: 0.25, labels: { estimated_cost: '9' } }, 250_000],
    [{ labels: { estimated_cost: '0.0000001' } }, 1],
    [{ labels: { estimated_cost: 'much' } }, 0],
    [{ labels: { estimated_cost: '-3' } }, 0],
    [{ labels: { estimated_cost: 'Infinity' } }, 0],
    [{ labels: { estimated_cost: '1e300' } }, 1e12],
  ])('of %j is %d micros', (request, micros) => {
    expect(getEstimate(request as unknown as Parameters<typeof getEstimate>[0])).toBe(micros);
  });

  it('is exact for whole micros, and is rounded up', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e12 }), (micros) => {
        expect(toMicros(toUsd(micros))).toBe(micros);
      }),
    );
  });
});

describe('a cost centre', () => {
  const terms = budgetTerms({ cost_centers: ['research'] });

  it.each([
    [terms, { cost_center: 'research' }, 'research'],
    [terms, { cost_center: 'elsewhere' }, 'unattributed'],
    [terms, {}, 'unattributed'],
    [budgetTerms({}), { cost_center: 'x'.repeat(129) }, 'unattributed'],
    [budgetTerms({}), { cost_center: 'any' }, 'any'],
    [budgetTerms({ cost_attribution_enabled: false }), { cost_center: 'any' }, undefined],
  ])('%#', (of, labels, expected) => {
    expect(getCostCenter(of, labels as Record<string, string>)).toBe(expected);
  });
});
