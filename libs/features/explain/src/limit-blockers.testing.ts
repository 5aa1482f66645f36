import type { Owner } from '@svc/contract';
import type { JobLimits, LimitUsage } from '@svc/store';
import type { BlockerCase } from './blocker-case.testing';
import { at, nowMs, waitingWith } from './job-facts.testing';

const limits: JobLimits = {
  concurrency: { key: 'k', limit: 2, strategy: 'queue' },
  rate: { key: 'r', limit: 5, per_ms: 60_000 },
  debounce: { key: 'd', period_ms: 10_000, max_ms: 100_000 },
};
/** A job that waits for one of its limits by key. */
const limitedBy = (limitUsage: LimitUsage) =>
  waitingWith({
    request: { limits },
    job: { lane: '', blocked: { by: limitUsage.by, lane: { id: 'job.work', spec: '{}', level: 2 } } },
    facts: { limitUsage },
  });
const limitOwner = (by: LimitUsage['by']): Owner => ({
  kind: 'request',
  id: `${by}.key`,
  value: limits[by]?.key ?? '',
});

/** Jobs that their own limits by key block. */
export const limitCases: BlockerCase[] = [
  {
    blocker: 'concurrency_limit',
    name: 'other jobs run with its concurrency key',
    facts: limitedBy({ by: 'concurrency', holders: ['j1', 'j2'], held: 2, ahead: 3 }),
    check: 'limits',
    owner: limitOwner('concurrency'),
    what: /^2 of 2 places of the concurrency key k are held by j1, j2; 3 jobs wait before it$/,
  },
  {
    blocker: 'rate_limit',
    name: 'the starts of its rate key are used',
    facts: limitedBy({ by: 'rate', holders: ['j1'], held: 5, ahead: 0, dueMs: nowMs + 5_000 }),
    check: 'limits',
    owner: limitOwner('rate'),
    clears: at(5),
    what: /^5 of 5 starts of the rate key r are used, by j1 and 4 more$/,
  },
  {
    blocker: 'debounce',
    name: 'its debounce period is not over',
    facts: limitedBy({ by: 'debounce', holders: [], held: 0, ahead: 0, dueMs: nowMs + 5_000 }),
    check: 'limits',
    owner: limitOwner('debounce'),
    clears: at(5),
    what: /debounce key d/,
  },
];
