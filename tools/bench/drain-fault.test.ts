import { findFault, type DrainFacts } from './drain-fault';

const fine: DrainFacts = {
  ids: ['a', 'b'],
  ended: { SUCCEEDED: 2, FAILED: 0 },
  ends: [1, 1],
  worked: { jobs: 2, repeated: [] },
};

describe('faultOf', () => {
  it('accepts jobs that each ended once', () => {
    expect(findFault(fine)).toBeUndefined();
  });

  it.each<[string, Partial<DrainFacts>, string]>([
    ['a job id given twice', { ids: ['a', 'a'] }, 'same job id'],
    ['a job that is lost', { ended: { SUCCEEDED: 1, FAILED: 0 } }, 'ended otherwise'],
    ['a job that failed', { ended: { SUCCEEDED: 1, FAILED: 1 } }, 'ended otherwise'],
    ['a job too many', { ended: { SUCCEEDED: 3, FAILED: 0 } }, 'ended otherwise'],
    ['a job that ended twice', { ends: [1, 2] }, 'including b'],
    ['a job whose history has no end', { ends: [0, 1] }, 'including a'],
    ['a job the worker never saw', { worked: { jobs: 1, repeated: [] } }, '1 of 2 jobs'],
    ['a job the worker did twice', { worked: { jobs: 2, repeated: ['a'] } }, 'more than once'],
  ])('notices %s', (_what, facts, fault) => {
    expect(findFault({ ...fine, ...facts })).toContain(fault);
  });
});
