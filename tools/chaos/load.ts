import { terminalStates } from '@svc/lifecycle';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { People } from './people';
import { actOnRuns } from './run-load';
import { pick } from './seeded';
import type { World } from './world';

export interface LoadOptions {
  jobsPerSec: number;
  random: () => number;
}

type Act = (people: People, random: () => number) => Promise<unknown>;

/** Time that a client waits for a job to end before it acts. */
const curiousMs = 60_000;
/** Maximum concurrent clients; with more, nothing is being processed and new jobs would add no information. */
const maxClients = 300;

const submit = ({ admin }: People, topic: string, key: string = randomUUID()) => admin.submit({ topic, key }, 120_000);

const ordinary: Act = (people) => submit(people, 'job.chaos.work');

/** Behaviors of clients, each with its share in twelfths. */
const acts: readonly [Act, ...Act[]] = [
  ordinary,
  ordinary,
  ordinary,
  ordinary,
  actOnRuns,
  actOnRuns,
  (people) => submit(people, 'job.chaos.flaky'),
  // The same key three times at once, then with another body.
  async (people) => {
    const key = randomUUID();
    await Promise.all([1, 2, 3].map(() => submit(people, 'job.chaos.work', key)));
    await people.admin.submit({ topic: 'job.chaos.work', key, prompt: 'something else' }).catch(() => undefined);
  },
  async (people, random) => {
    const id = await submit(people, 'job.chaos.held');
    const { admin, approver } = people;
    const all = [
      () => approver.decide('approve', id),
      () => approver.decide('reject', id),
      () => Promise.all([approver.decide('approve', id), approver.decide('reject', id)]),
      () => Promise.all([approver.decide('approve', id), approver.decide('approve', id)]),
      () => Promise.all([approver.decide('approve', id), admin.cancel(id)]),
    ] as const;
    await pick<() => Promise<unknown>>(all, random)();
  },
  async (people, random) => {
    const id = await submit(people, 'job.chaos.slow');
    await sleep(random() * 1_000);
    await people.admin.cancel(id);
  },
  (people, random) => dead(people, random, 'job.chaos.broken', 'FAILED'),
  (people, random) => dead(people, random, 'job.chaos.leak', 'OUTPUT_QUARANTINED'),
];

/** A job that fails, and half of the time a retry of its dead letter. */
async function dead(people: People, random: () => number, topic: string, state: string): Promise<void> {
  const id = await submit(people, topic);
  if (random() < 0.5) return;
  const endMs = Date.now() + curiousMs;
  for (let seen = await people.admin.state(id); seen !== state; seen = await people.admin.state(id)) {
    // During faults it may end in another state, mostly in TIMEOUT.
    if (Date.now() > endMs || isEnd(seen)) return;
    await sleep(250);
  }
  await people.admin.retry(id);
}

const isEnd = (state: string | undefined) => terminalStates.some((end) => end === state);

/** Clients with random behaviors until `stop`. */
export class Load {
  private readonly underWay = new Set<Promise<unknown>>();
  private timer: NodeJS.Timeout | undefined;
  begun = 0;

  constructor(
    private readonly world: World,
    private readonly options: LoadOptions,
  ) {}

  start(): void {
    const { jobsPerSec, random } = this.options;
    this.timer = setInterval(() => {
      if (this.underWay.size >= maxClients) return;
      const people = { admin: this.world.client('admin'), approver: this.world.client('approver') };
      // A client gives up after minutes of rejections; its journal has the calls.
      const act: Promise<unknown> = pick(acts, random)(people, random).catch(() => undefined);
      this.begun++;
      this.underWay.add(act);
      void act.finally(() => this.underWay.delete(act));
    }, 1_000 / jobsPerSec);
  }

  get waiting(): number {
    return this.underWay.size;
  }

  /** Starts no new clients; resolves when all have finished. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.underWay);
  }
}
