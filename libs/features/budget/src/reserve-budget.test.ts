import type { OverBudget } from '@svc/store';
import { budgetWaitMs, mayFreeBudget } from './reserve-budget';

const over = (part: Partial<OverBudget>): OverBudget => ({
  limit: 'daily_limit_usd',
  of: 'tenant acme',
  amount: 10,
  spent: 6,
  reserved: 0,
  ends_ms: 3_600_000,
  ...part,
});

describe('delay until a job that waits for its budget is checked again', () => {
  it.each([
    ['short while running work may return part of its reservation', { reserved: 3 }, 0, 5_000],
    ['long when nothing is reserved', {}, 0, 60_000],
    ['long when everything is spent, even with reservations', { spent: 10, reserved: 3 }, 0, 60_000],
    ['until the end of the period', {}, 3_590_000, 10_000],
    ['minimal after the end of the period', {}, 3_600_001, 1],
  ])('is %s', (_, part, nowMs, expected) => {
    expect(budgetWaitMs(over(part), nowMs)).toBe(expected);
    expect(mayFreeBudget(over(part))).toBe(expected === 5_000);
  });
});
