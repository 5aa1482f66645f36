import type { Usage } from './admit';

/** Capacity reserved for a write until it is stored or fails. */
export interface Reservation extends Usage {
  tenant: string;
  round: Round;
}

/** Reservations made between the starts of two counts. */
interface Round {
  all: Usage;
  tenants: Map<string, Usage>;
}

/**
 * Work this process admitted since the last count of Redis, so that a burst between two counts cannot exceed the limits.
 * Grouped in rounds: a count includes everything stored before it began.
 */
export class InFlightReservations {
  private current = newRound();
  private rounds: Round[] = [this.current];
  private readonly pending = new Set<Reservation>();

  reserve(tenant: string, usage: Usage): Reservation {
    const reservation = { tenant, ...usage, round: this.current };
    add(reservation, 1);
    this.pending.add(reservation);
    return reservation;
  }

  /** The write succeeded: the next count includes it. */
  commit(reservation: Reservation): void {
    this.pending.delete(reservation);
  }

  /** The write failed. */
  release(reservation: Reservation): void {
    this.pending.delete(reservation);
    add(reservation, -1);
  }

  /**
   * Marks the start of a count of Redis.
   *
   * @returns a function to call with the result of the count: it removes and returns, by tenant, the reservations that the
   *   count includes. If it is not called, they are still added to the last snapshot.
   */
  beginCount(): () => { tenant: string; usage: Usage }[] {
    const round = newRound();
    this.current = round;
    // The count may miss a write that is still in progress, so it moves to the new round.
    for (const reservation of this.pending) {
      add(reservation, -1);
      reservation.round = round;
      add(reservation, 1);
    }
    this.rounds = [...this.rounds.filter(({ tenants }) => tenants.size > 0), round];
    return () => {
      // -1: a count that began later has already completed.
      const counted = this.rounds.slice(0, Math.max(0, this.rounds.indexOf(round)));
      this.rounds = this.rounds.slice(counted.length);
      return counted.flatMap(({ tenants }) => [...tenants].map(([tenant, usage]) => ({ tenant, usage })));
    };
  }

  get all(): Usage {
    return sum(this.rounds.map(({ all }) => all));
  }

  of(tenant: string): Usage {
    return sum(this.rounds.flatMap(({ tenants }) => tenants.get(tenant) ?? []));
  }

  /** Tenants with reservations since the last count of Redis. */
  get tenants(): string[] {
    return [...new Set(this.rounds.flatMap(({ tenants }) => [...tenants.keys()]))];
  }
}

const newRound = (): Round => ({ all: { jobs: 0, bytes: 0 }, tenants: new Map() });

const sum = (usages: readonly Usage[]): Usage =>
  usages.reduce((total, { jobs, bytes }) => ({ jobs: total.jobs + jobs, bytes: total.bytes + bytes }), {
    jobs: 0,
    bytes: 0,
  });

function add({ tenant, jobs, bytes, round }: Reservation, sign: 1 | -1): void {
  const own = round.tenants.get(tenant) ?? { jobs: 0, bytes: 0 };
  round.tenants.set(tenant, own);
  for (const usage of [own, round.all]) {
    usage.jobs += sign * jobs;
    usage.bytes += sign * bytes;
  }
  if (own.jobs === 0 && own.bytes === 0) round.tenants.delete(tenant);
}
