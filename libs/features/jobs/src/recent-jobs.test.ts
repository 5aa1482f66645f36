import { plainJob } from '@svc/fixtures/decision';
import { RecentJobs } from './recent-jobs';

describe('recently submitted jobs', () => {
  const job = (id: string) => ({ ...plainJob(), id });

  let nowMs = 0;
  /** For which a client has waited. */
  function watched(): RecentJobs {
    const recent = new RecentJobs({ nowMs: () => nowMs });
    recent.find('other');
    return recent;
  }

  it('are kept only while clients wait for ends', () => {
    const recent = watched();

    nowMs += 60_000;
    recent.expect(job('a'), '{}');
    nowMs += 60_001;
    recent.find('a');
    nowMs += 60_001;
    recent.expect(job('b'), '{}');

    expect([recent.find('a')?.record.id, recent.find('b')]).toEqual(['a', undefined]);
  });

  it('are known from before their acceptance until their end', () => {
    const recent = watched();

    recent.expect(job('a'), '{}');
    recent.confirm('a', 7);
    expect(recent.find('a')).toMatchObject({ record: { id: 'a', created_at: 7 }, input: '{}' });

    recent.forget('a');
    expect(recent.find('a')).toBeUndefined();
  });

  it('are forgotten when the end is announced before the acceptance is processed', () => {
    const recent = watched();

    recent.expect(job('a'), '{}');
    recent.forget('a');
    recent.confirm('a', 7);

    expect(recent.find('a')).toBeUndefined();
  });

  it('are limited in number and in the size of their inputs', () => {
    const recent = watched();

    for (let i = 0; i < 4_097; i++) recent.expect(job(`j${i}`), 'x'.repeat(i === 4_096 ? 16_385 : 16_384));

    expect(recent.find('j0')).toBeUndefined();
    expect(recent.find('j1')?.input).toHaveLength(16_384);
    expect(recent.find('j4096')).toEqual({ record: job('j4096') });
  });

  it('are all forgotten after a gap', () => {
    const recent = watched();
    recent.expect(job('a'), '{}');

    recent.clear();

    expect(recent.find('a')).toBeUndefined();
  });
});
