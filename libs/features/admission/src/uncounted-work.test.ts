import fc from 'fast-check';
import { type Reservation, UncountedWork } from './uncounted-work';

const one = { jobs: 1, bytes: 10 };

describe('what was let in since the last count', () => {
  it('counts at once, and no more when it was not stored', () => {
    const taken = new UncountedWork();
    const place = taken.take('acme', one);
    taken.take('globex', one);

    expect([taken.of('acme'), taken.all]).toEqual([one, { jobs: 2, bytes: 20 }]);
    taken.giveBack(place);
    expect([taken.of('acme'), taken.all, taken.tenants]).toEqual([{ jobs: 0, bytes: 0 }, one, ['globex']]);
  });

  it('what was stored before a count began is in it; what came meanwhile is not', () => {
    const taken = new UncountedWork();
    taken.stored(taken.take('before', one));
    const arrived = taken.beginCount();
    taken.stored(taken.take('meanwhile', one));

    expect(taken.all.jobs).toBe(2);
    expect(arrived()).toEqual([{ tenant: 'before', held: one }]);
    expect(taken.tenants).toEqual(['meanwhile']);
  });

  it('what was under way when a count began may be missing in it, and goes on counting', () => {
    const taken = new UncountedWork();
    const place = taken.take('acme', one);
    const arrived = taken.beginCount();
    taken.stored(place);
    arrived();

    expect(taken.of('acme')).toEqual(one);
    taken.beginCount()();
    expect(taken.of('acme').jobs).toBe(0);
  });

  it('a count that does not arrive forgets nothing', () => {
    const taken = new UncountedWork();
    taken.stored(taken.take('acme', one));
    taken.beginCount();
    taken.stored(taken.take('acme', one));
    const arrived = taken.beginCount();

    expect(taken.of('acme').jobs).toBe(2);
    arrived();
    expect(taken.all.jobs).toBe(0);
  });

  it('of two counts at once, the later one stands', () => {
    const taken = new UncountedWork();
    taken.stored(taken.take('acme', one));
    const earlier = taken.beginCount();
    taken.stored(taken.take('acme', one));
    const later = taken.beginCount();
    taken.stored(taken.take('acme', one));

    expect(later()).toHaveLength(2);
    expect(earlier()).toEqual([]);
    expect(taken.all.jobs).toBe(1);
  });

  it('in any order of events, it never counts less than what a count may have missed, and nothing is left over', () => {
    const step = fc.constantFrom('take', 'store', 'give back', 'begin', 'arrive', 'fail');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const taken = new UncountedWork();
        const underWay: Reservation[] = [];
        let arrive: (() => unknown) | undefined;
        let missed = 0; // stored after the last count that arrived had begun
        let sinceBegin = 0;
        for (const what of steps) {
          const place = what === 'store' || what === 'give back' ? underWay.shift() : undefined;
          if (what === 'take') underWay.push(taken.take('acme', one));
          if (what === 'store' && place) {
            taken.stored(place);
            missed += 1;
            sinceBegin += 1;
          }
          if (what === 'give back' && place) taken.giveBack(place);
          if (what === 'begin') {
            arrive = taken.beginCount();
            sinceBegin = 0;
          }
          if (what === 'fail') arrive = undefined;
          if (what === 'arrive' && arrive) {
            arrive();
            arrive = undefined;
            missed = sinceBegin;
          }
          expect(taken.all.jobs).toBeGreaterThanOrEqual(missed + underWay.length);
        }
        for (const place of underWay) taken.giveBack(place);
        taken.beginCount()();
        expect(taken.all).toEqual({ jobs: 0, bytes: 0 });
      }),
    );
  });
});
