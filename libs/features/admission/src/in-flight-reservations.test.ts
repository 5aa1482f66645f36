import fc from 'fast-check';
import { type Reservation, InFlightReservations } from './in-flight-reservations';

const one = { jobs: 1, bytes: 10 };

describe('InFlightReservations', () => {
  it('counts a reservation at once, and no longer after its release', () => {
    const reservations = new InFlightReservations();
    const reservation = reservations.reserve('acme', one);
    reservations.reserve('globex', one);

    expect([reservations.of('acme'), reservations.all]).toEqual([one, { jobs: 2, bytes: 20 }]);
    reservations.release(reservation);
    expect([reservations.of('acme'), reservations.all, reservations.tenants]).toEqual([
      { jobs: 0, bytes: 0 },
      one,
      ['globex'],
    ]);
  });

  it('a count includes writes stored before it began, and none stored during it', () => {
    const reservations = new InFlightReservations();
    reservations.commit(reservations.reserve('before', one));
    const completeCount = reservations.beginCount();
    reservations.commit(reservations.reserve('during', one));

    expect(reservations.all.jobs).toBe(2);
    expect(completeCount()).toEqual([{ tenant: 'before', usage: one }]);
    expect(reservations.tenants).toEqual(['during']);
  });

  it('a reservation in progress when a count begins still counts after it', () => {
    const reservations = new InFlightReservations();
    const reservation = reservations.reserve('acme', one);
    const completeCount = reservations.beginCount();
    reservations.commit(reservation);
    completeCount();

    expect(reservations.of('acme')).toEqual(one);
    reservations.beginCount()();
    expect(reservations.of('acme').jobs).toBe(0);
  });

  it('a count that never completes removes nothing', () => {
    const reservations = new InFlightReservations();
    reservations.commit(reservations.reserve('acme', one));
    reservations.beginCount();
    reservations.commit(reservations.reserve('acme', one));
    const completeCount = reservations.beginCount();

    expect(reservations.of('acme').jobs).toBe(2);
    completeCount();
    expect(reservations.all.jobs).toBe(0);
  });

  it('the later of two overlapping counts takes effect', () => {
    const reservations = new InFlightReservations();
    reservations.commit(reservations.reserve('acme', one));
    const earlier = reservations.beginCount();
    reservations.commit(reservations.reserve('acme', one));
    const later = reservations.beginCount();
    reservations.commit(reservations.reserve('acme', one));

    expect(later()).toHaveLength(2);
    expect(earlier()).toEqual([]);
    expect(reservations.all.jobs).toBe(1);
  });

  it('in any order of events, the sum covers every write a count may have missed, and ends at zero', () => {
    const step = fc.constantFrom('reserve', 'commit', 'release', 'begin', 'complete', 'fail');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const reservations = new InFlightReservations();
        const pending: Reservation[] = [];
        let complete: (() => unknown) | undefined;
        let missed = 0; // Stored after the last completed count began.
        let sinceBegin = 0;
        for (const event of steps) {
          const reservation = event === 'commit' || event === 'release' ? pending.shift() : undefined;
          if (event === 'reserve') pending.push(reservations.reserve('acme', one));
          if (event === 'commit' && reservation) {
            reservations.commit(reservation);
            missed += 1;
            sinceBegin += 1;
          }
          if (event === 'release' && reservation) reservations.release(reservation);
          if (event === 'begin') {
            complete = reservations.beginCount();
            sinceBegin = 0;
          }
          if (event === 'fail') complete = undefined;
          if (event === 'complete' && complete) {
            complete();
            complete = undefined;
            missed = sinceBegin;
          }
          expect(reservations.all.jobs).toBeGreaterThanOrEqual(missed + pending.length);
        }
        for (const reservation of pending) reservations.release(reservation);
        reservations.beginCount()();
        expect(reservations.all).toEqual({ jobs: 0, bytes: 0 });
      }),
    );
  });
});
