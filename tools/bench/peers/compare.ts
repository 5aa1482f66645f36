import { runTrips } from '../runs';
import type { Session } from '../session';
import { percentile } from '../statistics';
import { restateVersion } from './install';
import { Restate } from './restate';

/** One comparison with a peer. `ratio` is the product ÷ the peer. */
export interface PeerRow {
  name: string;
  unit: string;
  product: number;
  peer: number;
  ratio: number;
}

export interface Peers {
  peer: string;
  rows: PeerRow[];
}

/** What a comparison with Restate does not show. */
export const guarantees = [
  'Both accept a request only after it is synced to disk, execute a step at least once and record its result once; both run as a single node without replication.',
  'The product puts every job through policy, limits, fairness between tenants and an output scan, keeps its input, history and audit trail queryable, and passes it over a bus to a worker that any language can implement. Restate does none of that; its handler is called over HTTP/2.',
  'The product is four processes with Redis and NATS, each of which can fail alone. Restate is one server process with an embedded log and store.',
  'A step of the product is a job that a worker executes; the steps of one run may go to different workers. A step of Restate (`ctx.run`) executes in the process of the handler, which Restate re-executes from its journal after a failure.',
  'A client of the product sends two requests, POST and a GET that waits; a client of Restate sends one, which waits.',
] as const;

const inFlight = 64;

/** Measures the product, stops it, and measures Restate on this machine with the same client. Ends the session's product. */
export async function comparePeers(session: Session): Promise<Peers> {
  const { oneByOne, closedLoop, runs } = session.sizes;
  const product = await session.workflows();
  const loneRuns = Math.ceil(oneByOne / 4);
  await runTrips(product, 'one', inFlight, Math.ceil(runs / 10));
  const ours = {
    job: (await session.roundTrip64()).rate,
    jobMs: percentile((await session.roundTrip1()).ms, 0.5),
    one: (await runTrips(product, 'one', inFlight, runs)).rate,
    three: (await runTrips(product, 'three', inFlight, Math.ceil(runs / 3))).rate,
    threeMs: percentile((await runTrips(product, 'three', 1, loneRuns)).ms, 0.5),
  };
  // Its idle processes would take time from the peer.
  await session.close();
  const restate = await Restate.start(session.say);
  session.onClose(() => restate.stop());
  await restate.calls('one', inFlight, Math.ceil(closedLoop / 10));
  await restate.calls('three', inFlight, Math.ceil(closedLoop / 10));
  const one = (await restate.calls('one', inFlight, closedLoop)).rate;
  const oneMs = percentile((await restate.calls('one', 1, oneByOne)).ms, 0.5);
  const three = (await restate.calls('three', inFlight, Math.ceil(closedLoop / 3))).rate;
  const threeMs = percentile((await restate.calls('three', 1, loneRuns)).ms, 0.5);
  const row = (name: string, unit: string, product: number, peer: number): PeerRow => ({
    name,
    unit,
    product,
    peer,
    ratio: product / peer,
  });
  return {
    peer: `Restate ${restateVersion()}`,
    rows: [
      row('one step: a job, 64 clients', 'per second', ours.job, one),
      row('one step: a job, alone, p50', 'ms', ours.jobMs, oneMs),
      row('one step: a run, 64 clients', 'per second', ours.one, one),
      row('three steps: a run, 64 clients', 'per second', ours.three, three),
      row('three steps: a run, alone, p50', 'ms', ours.threeMs, threeMs),
    ],
  };
}
