import { setTimeout as sleep } from 'node:timers/promises';
import type { TestServer } from '@svc/testing';
import type { Supervised } from '../stack/supervised';
import type { JournalClient } from './client';
import type { CutProxy } from './cut-proxy';
import { pick } from './seeded';
import type { ServiceClock } from './service-clock';
import type { WorkerCredentials } from './worker-credentials';

/** Targets of faults. */
export interface Victims {
  services: readonly [Supervised, ...Supervised[]];
  workers: readonly [Supervised, ...Supervised[]];
  redis: TestServer;
  nats: TestServer;
  ways: readonly [CutProxy, ...CutProxy[]];
  /** Clocks of services that may be set. */
  clocks: readonly [ServiceClock, ...ServiceClock[]];
  admin: Pick<JournalClient, 'drainPool' | 'activatePool'>;
  /** Absent where workers are not attested. */
  credentials?: Pick<WorkerCredentials, 'ids' | 'revoke' | 'write'>;
}

/** Target of a fault. */
export type Struck = Supervised | TestServer | CutProxy | ServiceClock;

/** A fault; the promise resolves with its targets when it is over. */
interface Fault {
  name: string;
  strike(victims: Victims, random: () => number): Promise<readonly Struck[]>;
}

const between = (fromMs: number, toMs: number, random: () => number) => fromMs + random() * (toMs - fromMs);

const faults: readonly [Fault, ...Fault[]] = [
  { name: 'a service is killed', strike: ({ services }, random) => kill(pick(services, random)) },
  {
    name: 'two services are killed at once',
    async strike({ services }, random) {
      return (await Promise.all([kill(pick(services, random)), kill(pick(services, random))])).flat();
    },
  },
  { name: 'a service is asked to end', strike: ({ services }, random) => ask(pick(services, random)) },
  { name: 'a service is stopped for a while', strike: ({ services }, random) => pause(pick(services, random), random) },
  { name: 'a worker is killed', strike: ({ workers }, random) => kill(pick(workers, random)) },
  { name: 'a worker is stopped for a while', strike: ({ workers }, random) => pause(pick(workers, random), random) },
  { name: 'Redis is killed', strike: ({ redis }, random) => restart(redis, between(0, 1_500, random)) },
  { name: 'Redis hangs', strike: ({ redis }, random) => pause(redis, random) },
  { name: 'NATS is killed', strike: ({ nats }, random) => restart(nats, between(0, 4_000, random)) },
  { name: 'NATS hangs', strike: ({ nats }, random) => pause(nats, random) },
  {
    name: 'connections are cut again and again',
    async strike({ ways }, random) {
      const way = pick(ways, random);
      for (let i = 0; i < 5; i++) {
        way.cut();
        await sleep(between(50, 600, random));
      }
      return [way];
    },
  },
  {
    name: 'a way is slow',
    async strike({ ways }, random) {
      const way = pick(ways, random);
      way.weather.delayMs = 200;
      await sleep(between(500, 3_000, random));
      way.weather.delayMs = 0;
      return [way];
    },
  },
  {
    name: 'everything is published twice',
    async strike({ ways }, random) {
      for (const { weather } of ways) weather.isDoubling = true;
      await sleep(between(1_000, 4_000, random));
      for (const { weather } of ways) weather.isDoubling = false;
      return [];
    },
  },
  {
    name: 'a clock jumps, and back',
    async strike({ clocks }, random) {
      const clock = pick(clocks, random);
      clock.set(pick(jumpsMs, random));
      await sleep(between(500, 6_000, random));
      clock.set(0);
      return [clock];
    },
  },
  {
    name: 'a pool is drained, a service is killed, and the pool is activated',
    async strike({ services, admin }, random) {
      await admin.drainPool('chaos');
      const struck = await kill(pick(services, random));
      await sleep(between(0, 1_000, random));
      await admin.activatePool('chaos');
      return struck;
    },
  },
  {
    name: 'the credential of a worker is revoked, a service is killed, and it is written again',
    async strike({ services, ways, credentials }, random) {
      const [first, ...others] = credentials?.ids ?? [];
      if (!credentials || first === undefined) return [];
      const worker = pick([first, ...others], random);
      await credentials.revoke(worker);
      const struck = await kill(pick(services, random));
      await sleep(between(0, 1_500, random));
      await credentials.write(worker);
      // Its next session begins with a new connection.
      for (const way of ways.slice(-2)) way.cut();
      return [...struck, ...ways.slice(-2)];
    },
  },
];

const jumpsMs = [90_000, -300_000, 3_600_000, -3_600_000] as const;

async function kill(process: Supervised): Promise<Struck[]> {
  await process.kill('SIGKILL');
  return [process];
}

/** Services stop within ten seconds; after that `kill` sends SIGKILL. */
const drainMs = 10_000;
/** Longest time a service needs to load its code, on a busy machine. */
const bootMs = 6_000;

/** @throws Error when it does not end by itself in time */
async function ask(service: Supervised): Promise<Struck[]> {
  // Before its code is loaded a process has no signal handler.
  while (service.ageMs < bootMs) await sleep(50);
  const startedMs = Date.now();
  await service.kill('SIGTERM');
  if (Date.now() - startedMs >= drainMs) throw new Error(`${service.name} did not end within ${drainMs} ms of SIGTERM`);
  return [service];
}

/** SIGSTOP, then SIGCONT: the process continues as if no time had passed. */
async function pause(victim: Supervised | TestServer, random: () => number): Promise<Struck[]> {
  const { pid } = victim;
  if (!pid) return [];
  const forMs = between(500, 5_000, random);
  if (!signal(pid, 'SIGSTOP')) return [];
  await sleep(forMs);
  signal(pid, 'SIGCONT');
  return [victim];
}

/** @returns false when it has already exited */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

async function restart(server: TestServer, downMs: number): Promise<Struck[]> {
  await server.kill('SIGKILL');
  await sleep(downMs);
  await server.start();
  return [server];
}

/** Injects faults one after another, in an order that the random source determines, until stopped; some of them first. */
export class Storm {
  /** Number of injections per fault. */
  readonly struck: Record<string, number> = {};
  /** Unexpected behavior of a target. */
  readonly complaints: string[] = [];
  private readonly first: Fault[];
  private isOver = false;
  private raging: Promise<void> = Promise.resolve();

  constructor(
    private readonly victims: Victims,
    private readonly random: () => number,
    private readonly say: (text: string) => void,
    /** Called after each fault with its start and its targets. */
    private readonly onStruck: (fromMs: number, whom: readonly Struck[]) => void,
    /** Names of faults that are injected first, in this order and in any case. */
    first: readonly string[] = [],
  ) {
    this.first = first.map((name) => {
      const fault = faults.find((one) => one.name === name);
      if (!fault) throw new Error(`there is no fault "${name}"`);
      return fault;
    });
  }

  start(): void {
    this.raging = this.rage();
  }

  /** Resolves when the last fault is over. */
  async stop(): Promise<void> {
    this.isOver = true;
    await this.raging;
  }

  private async rage(): Promise<void> {
    while (!this.isOver || this.first.length > 0) {
      const fault = this.first.shift() ?? pick(faults, this.random);
      this.say(fault.name);
      this.struck[fault.name] = (this.struck[fault.name] ?? 0) + 1;
      const fromMs = Date.now();
      try {
        this.onStruck(fromMs, await fault.strike(this.victims, this.random));
      } catch (error) {
        this.complaints.push(error instanceof Error ? error.message : String(error));
      }
      await sleep(between(200, 2_500, this.random));
    }
  }
}
