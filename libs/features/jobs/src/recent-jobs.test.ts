import { plainJob } from '@svc/fixtures/decision';
import { RecentJobs } from './recent-jobs';

describe('recently submitted jobs', () => {
  const job = (id: string) => ({ ...plainJob(), id });

  it('are known from before their acceptance until their end', () => {
    const recent = new RecentJobs();

    recent.expect(job('a'), '{}');
    recent.confirm('a', 7);
    expect(recent.find('a')).toMatchObject({ record: { id: 'a', created_at: 7 }, input: '{}' });

    recent.forget('a');
    expect(recent.find('a')).toBeUndefined();
  });

  it('are forgotten when the end is announced before the acceptance is processed', () => {
    const recent = new RecentJobs();

    recent.expect(job('a'), '{}');
    recent.forget('a');
    recent.confirm('a', 7);

    expect(recent.find('a')).toBeUndefined();
  });

  it('are limited in number and in the size of their inputs', () => {
    const recent = new RecentJobs();

    for (let i = 0; i < 4_097; i++) recent.expect(job(`j${i}`), 'x'.repeat(i === 4_096 ? 16_385 : 16_384));

    expect(recent.find('j0')).toBeUndefined();
    expect(recent.find('j1')?.input).toHaveLength(16_384);
    expect(recent.find('j4096')).toEqual({ record: job('j4096') });
  });

  it('are all forgotten after a gap', () => {
    const recent = new RecentJobs();
    recent.expect(job('a'), '{}');

    recent.clear();

    expect(recent.find('a')).toBeUndefined();
  });
});
