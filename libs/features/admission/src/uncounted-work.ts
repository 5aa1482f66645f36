import type { Held } from './admit';

/** Room that something takes until it is stored, or until it turns out that it will not be. */
export interface Reservation extends Held {
  tenant: string;
  round: Round;
}

/** What was taken between the beginnings of two counts. */
interface Round {
  all: Held;
  tenants: Map<string, Held>;
}

/**
 * What this process let in since Redis was last counted, so that a burst between two counts does not go past the limits.
 * It is kept by rounds: what was stored before a count began is in that count.
 */
export class UncountedWork {
  private current = newRound();
  private rounds: Round[] = [this.current];
  private readonly underWay = new Set<Reservation>();

  take(tenant: string, held: Held): Reservation {
    const place = { tenant, ...held, round: this.current };
    add(place, 1);
    this.underWay.add(place);
    return place;
  }

  /** It is stored: the next count sees it. */
  stored(place: Reservation): void {
    this.underWay.delete(place);
  }

  /** It was not stored. */
  giveBack(place: Reservation): void {
    this.underWay.delete(place);
    add(place, -1);
  }

  /**
   * A count of Redis begins.
   *
   * @returns what to call when it has arrived: it forgets what was taken before the count began, and returns that by tenant.
   *   Without that, it goes on being added to the last picture.
   */
  beginCount(): () => { tenant: string; held: Held }[] {
    const round = newRound();
    this.current = round;
    // What is not stored yet may be missing in the count.
    for (const place of this.underWay) {
      add(place, -1);
      place.round = round;
      add(place, 1);
    }
    this.rounds = [...this.rounds.filter(({ tenants }) => tenants.size > 0), round];
    return () => {
      // -1: a count that began later came first, and knows more.
      const counted = this.rounds.slice(0, Math.max(0, this.rounds.indexOf(round)));
      this.rounds = this.rounds.slice(counted.length);
      return counted.flatMap(({ tenants }) => [...tenants].map(([tenant, held]) => ({ tenant, held })));
    };
  }

  get all(): Held {
    return sum(this.rounds.map(({ all }) => all));
  }

  of(tenant: string): Held {
    return sum(this.rounds.flatMap(({ tenants }) => tenants.get(tenant) ?? []));
  }

  /** Tenants that took room here since Redis was last counted. */
  get tenants(): string[] {
    return [...new Set(this.rounds.flatMap(({ tenants }) => [...tenants.keys()]))];
  }
}

const newRound = (): Round => ({ all: { jobs: 0, bytes: 0 }, tenants: new Map() });

const sum = (held: readonly Held[]): Held =>
  held.reduce((total, { jobs, bytes }) => ({ jobs: total.jobs + jobs, bytes: total.bytes + bytes }), {
    jobs: 0,
    bytes: 0,
  });

function add({ tenant, jobs, bytes, round }: Reservation, sign: 1 | -1): void {
  const own = round.tenants.get(tenant) ?? { jobs: 0, bytes: 0 };
  round.tenants.set(tenant, own);
  for (const held of [own, round.all]) {
    held.jobs += sign * jobs;
    held.bytes += sign * bytes;
  }
  if (own.jobs === 0 && own.bytes === 0) round.tenants.delete(tenant);
}
