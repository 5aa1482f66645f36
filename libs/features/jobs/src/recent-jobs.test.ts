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

  const success = { fields: { state: 'SUCCEEDED' }, body: '{}' };

  it('are known from before their acceptance until their end, and then with it for a moment', () => {
    const recent = watched();

    recent.expect(job('a'), '{}');
    recent.confirm('a', 7);
    expect(recent.find('a')).toEqual({ record: { ...job('a'), created_at: 7 }, input: '{}' });

    recent.end('a', () => success);
    nowMs += 2_000;
    expect(recent.find('a')).toMatchObject({ record: { id: 'a' }, ending: success });
    nowMs += 1;
    expect(recent.find('a')).toBeUndefined();
  });

  it.each([
    ['announced without details', undefined],
    ['without a released result, which may change', { fields: { state: 'FAILED' } }],
  ])('are read from Redis after an end %s', (_, ending) => {
    const recent = watched();

    recent.expect(job('a'), '{}');
    recent.end('a', () => ending);

    expect(recent.find('a')).toBeUndefined();
  });

  it('have ended when the end is announced before the acceptance is processed', () => {
    const recent = watched();

    recent.expect(job('a'), '{}');
    recent.end('a', () => success);
    recent.confirm('a', 7);

    expect(recent.find('a')).toMatchObject({ record: { created_at: 7 }, ending: success });
  });

  it('are forgotten when they are not accepted', () => {
    const recent = watched();

    recent.expect(job('a'), '{}');
    recent.forget('a');

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
