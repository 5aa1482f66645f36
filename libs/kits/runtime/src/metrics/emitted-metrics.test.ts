import { declaredEntries } from '../declared-uses.testing';

describe('the tables of metrics', () => {
  const entries = declaredEntries(__dirname);

  it('every declared metric is emitted by a service', () => {
    expect(entries.filter(({ usedIn }) => usedIn.length === 0).map(({ name }) => name)).toEqual([]);
  });

  it('the search covers every metric of every service', () => {
    expect(entries.map(({ name }) => name)).toEqual(expect.arrayContaining(['svc_queue_depth', 'svc_build_info']));
    expect(entries.length).toBeGreaterThan(50);
  });
});
