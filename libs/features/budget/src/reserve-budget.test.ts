import type { OverBudget } from '@svc/store';
import { budgetWaitMs, mayGiveBack } from './reserve-budget';

const over = (part: Partial<OverBudget>): OverBudget => ({
  limit: 'daily_limit_usd',
  of: 'tenant acme',
  amount: 10,
  spent: 6,
  reserved: 0,
  ends_ms: 3_600_000,
  ...part,
});

describe('a job that waits for its budget', () => {
  it.each([
    ['soon while work under way may give something back', { reserved: 3 }, 0, 5_000],
    ['seldom when nothing is reserved', {}, 0, 60_000],
    ['seldom when all is spent, whatever is reserved', { spent: 10, reserved: 3 }, 0, 60_000],
    ['at the end of its period', {}, 3_590_000, 10_000],
    ['at once when that is over', {}, 3_600_001, 1],
  ])('is looked at %s', (_, part, nowMs, expected) => {
    expect(budgetWaitMs(over(part), nowMs)).toBe(expected);
    expect(mayGiveBack(over(part))).toBe(expected === 5_000);
  });
});
