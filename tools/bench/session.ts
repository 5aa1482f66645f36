import { runDrain, type Drain } from './drain';
import { FAIRNESS_CONCURRENCY, fairnessEnv, type FairnessLoad, measureFairness } from './fairness';
import type { HeartbeatLoad } from './heartbeats';
import { limits, startLimitServers, stopLimitServers, type LimitName } from './limits';
import { each, rssMb } from './process-cost';
import { Product, type ProductOptions } from './product';
import { roundTrips, type RoundTrips } from './round-trips';
import { setAndFire, stepCost, type Timers } from './run-costs';
import { postWorkflows, runsAtGate } from './runs';
import { recordRoundTrips, Recording } from './trace/record';

export interface SessionOptions {
  quick: boolean;
  workerConcurrency: number;
  say(text: string): void;
}

/** Amount of work per measurement; a tenth or less in a quick run. */
export interface Sizes {
  warmUp: number;
  drain: number;
  drains: number;
  stored: number;
  counted: number;
  oneByOne: number;
  recorded: number;
  closedLoop: number;
  reads: number;
  decisions: number;
  calls: number;
  runs: number;
  items: number;
  approvals: number;
  gates: number;
  timers: number;
  streamed: number;
  reports: number;
  /** Sign-ins by password. */
  logins: number;
  /** Running jobs of an agent that is stopped. */
  stopped: number;
  auditEvents: number;
  fairness: FairnessLoad;
  heartbeats: Pick<HeartbeatLoad, 'workers' | 'intervals'>;
}

const full: Sizes = {
  warmUp: 2_000,
  drain: 20_000,
  drains: 3,
  stored: 100_000,
  counted: 2_000,
  oneByOne: 2_000,
  recorded: 300,
  closedLoop: 10_000,
  reads: 1_000,
  decisions: 100_000,
  calls: 20_000,
  runs: 6_000,
  items: 1_000,
  approvals: 500,
  gates: 10_000,
  timers: 100_000,
  streamed: 10_000,
  reports: 1_000,
  logins: 1_000,
  stopped: 1_000,
  auditEvents: 200_000,
  fairness: { warmUp: 10_000, flood: 100_000, everyMs: 1_000, alone: 30 },
  heartbeats: { workers: 2_500, intervals: 4 },
};
const small: Sizes = {
  warmUp: 500,
  drain: 1_000,
  drains: 3,
  stored: 5_000,
  counted: 300,
  oneByOne: 200,
  recorded: 50,
  closedLoop: 1_000,
  reads: 200,
  decisions: 5_000,
  calls: 1_000,
  runs: 600,
  items: 100,
  approvals: 50,
  gates: 500,
  timers: 5_000,
  streamed: 1_000,
  reports: 100,
  logins: 100,
  stopped: 200,
  auditEvents: 5_000,
  fairness: { warmUp: 1_000, flood: 3_000, everyMs: 100, alone: 20 },
  heartbeats: { workers: 300, intervals: 1 },
};

type Memory = Record<string, number>;

/** Shared parts of several results. Each part runs once, when the first result needs it. */
export class Session {
  readonly sizes: Sizes;
  private readonly closers: (() => Promise<void>)[] = [];
  private stored = 0;

  constructor(private readonly options: SessionOptions) {
    this.sizes = options.quick ? small : full;
  }

  say = (text: string) => this.options.say(text);

  private readonly limitServers = once(async () => {
    const servers = await startLimitServers(this.options.quick);
    this.closers.push(() => stopLimitServers(servers));
    return servers;
  });

  /** A raw limit, in operations per second. */
  readonly limit = onceEach(async (name: LimitName) => limits[name](await this.limitServers()));

  /** The product with warm caches, and its memory at rest. */
  readonly product = once(async (): Promise<{ product: Product; restMb: Memory }> => {
    const { say, workerConcurrency } = this.options;
    const product = await Product.start({ say, workerConcurrency });
    this.closers.push(() => product.stop());
    const restMb = each(product.pids, rssMb);
    await this.drainOnce(product, this.sizes.warmUp, 'warm-up');
    return { product, restMb };
  });

  /** The drains for `submit`, `drain` and the costs per job, and the memory after each. */
  readonly drains = once(async () => {
    const { product } = await this.product();
    const drains: { drain: Drain; afterMb: Memory }[] = [];
    for (let i = 1; i <= this.sizes.drains; i++) {
      const drain = await this.drainOnce(product, this.sizes.drain, `drain ${i} of ${this.sizes.drains}`);
      drains.push({ drain, afterMb: each(product.pids, rssMb) });
    }
    return drains;
  });

  readonly roundTrip1 = once((): Promise<RoundTrips> => this.roundTrips(1, this.sizes.oneByOne));
  readonly roundTrip64 = once((): Promise<RoundTrips> => this.roundTrips(64, this.sizes.closedLoop));

  /** The same with a worker that speaks only the plain protocol, in a product of its own. */
  readonly roundTrip64Foreign = once(async (): Promise<RoundTrips> =>
    this.withProduct({ worker: 'foreign' }, async (product) => {
      await roundTrips(product, 64, this.sizes.warmUp);
      return roundTrips(product, 64, this.sizes.closedLoop);
    }),
  );

  /** Chains of sequential messages of lone round trips, in a product that records them. */
  readonly messages = once(async (): Promise<string[][]> => {
    const recording = new Recording();
    try {
      return await this.withProduct({ env: recording.env }, (product) =>
        recordRoundTrips(product, recording, this.sizes.recorded),
      );
    } finally {
      recording.close();
    }
  });

  /** The product with the number of ended jobs that measurements with stored jobs need, all executed by the product. */
  readonly stocked = once(async (): Promise<Product> => {
    const { product } = await this.product();
    while (this.stored < this.sizes.stored) {
      const missing = Math.min(this.sizes.drain, this.sizes.stored - this.stored);
      await this.drainOnce(
        product,
        missing,
        `storing ended jobs: ${this.stored} of ${this.sizes.stored} ended jobs stored`,
      );
    }
    return product;
  });

  /** The product with the workflows of the bench, ten runs of which wait. */
  readonly workflows = once(async (): Promise<Product> => {
    const { product } = await this.product();
    await postWorkflows(product);
    await runsAtGate(product, 10);
    return product;
  });

  /** CPU per step while few runs are live, µs. */
  readonly stepCost = once(async () => stepCost(await this.workflows(), this.sizes.runs));

  /** Many runs that wait at approval steps, and the Redis memory of each. */
  readonly gates = once(async (): Promise<{ bytes: number }> => {
    const product = await this.workflows();
    // Measured first, while few runs are live.
    await this.stepCost();
    const before = await product.redisBytes();
    await runsAtGate(product, this.sizes.gates);
    return { bytes: ((await product.redisBytes()) - before) / this.sizes.gates };
  });

  readonly timers = once(async (): Promise<Timers> => setAndFire(await this.workflows(), this.sizes.timers));

  /** Time to the result of a tenant while another one floods the product, divided by its time alone. */
  readonly fairness = once(async (): Promise<number> =>
    this.withProduct({ workerConcurrency: FAIRNESS_CONCURRENCY, env: fairnessEnv }, async (product) => {
      await roundTrips(product, 64, this.sizes.warmUp);
      return measureFairness(product, this.sizes.fairness, this.say);
    }),
  );

  async drainOnce(product: Product, jobs: number, what: string): Promise<Drain> {
    const drain = await runDrain(product, jobs);
    this.stored += jobs;
    const { submitRate, drainRate } = drain;
    this.say(`${what}: ${jobs} jobs, ${submitRate.toFixed(0)}/s in, ${drainRate.toFixed(0)}/s out`);
    return drain;
  }

  /** Registers a cleanup for the end of the session; run in reverse order. */
  onClose(close: () => Promise<void>): void {
    this.closers.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.closers.splice(0).reverse()) await close();
  }

  /** Runs `act` with a product of its own, which is stopped afterwards. */
  async withProduct<T>(options: Partial<ProductOptions>, act: (product: Product) => Promise<T>): Promise<T> {
    const { say, workerConcurrency } = this.options;
    const product = await Product.start({ say, workerConcurrency, ...options });
    let isStopped = false;
    const stop = async () => {
      if (!isStopped) await product.stop();
      isStopped = true;
    };
    this.closers.push(stop);
    try {
      return await act(product);
    } finally {
      await stop();
    }
  }

  private async roundTrips(inFlight: number, count: number): Promise<RoundTrips> {
    const { product } = await this.product();
    await roundTrips(product, inFlight, Math.ceil(count / 10));
    const made = await roundTrips(product, inFlight, count);
    this.stored += count + Math.ceil(count / 10);
    return made;
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

function onceEach<Name, T>(make: (name: Name) => Promise<T>): (name: Name) => Promise<T> {
  const made = new Map<Name, Promise<T>>();
  return (name) => {
    const known = made.get(name) ?? make(name);
    made.set(name, known);
    return known;
  };
}
