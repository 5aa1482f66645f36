import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@svc/testing';
import type { Outage, Violation } from './history';
import { violations } from './invariants';
import type { CrashPoint, Mode } from './operations';
import { readHistory, readLeft } from './read-history';
import { reachRun } from './run-scenarios';
import { scenarios } from './scenarios';
import { reach, startStageWorker, type Scenario, type Stage } from './stage';
import type { ScriptedWorker } from './scripted-worker';
import { putWorkflows } from './workflows';
import { outageOf, startWorld, type World, type WorldOptions } from './world';

/** One service in one scenario, and the operations it makes there. */
export interface Walk {
  scenario: Scenario;
  service: string;
  /** Names of the operations in order, from a run in which nobody died. */
  operations: readonly string[];
}

export interface StepOutcome {
  /** The operation at which the service died; undefined when it made fewer this time. */
  died: string | undefined;
  faults: Violation[];
  tookMs: number;
}

/** Longest time from a kill to the end of everything: lock, lease, redelivery and scan, one after another. */
const liveWithinMs = 60_000;
const quietMs = 300;

/** A world in which scenarios are played one after another, each time with a service that dies somewhere. */
export class CrashWalk {
  private readonly outages: Outage[] = [];

  private constructor(
    readonly world: World,
    private readonly worker: ScriptedWorker,
  ) {}

  static async start(options: WorldOptions = {}): Promise<CrashWalk> {
    const world = await startWorld(options);
    const worker = await startStageWorker(world, 'chaos-1', 'chaos');
    const walk = new CrashWalk(world, worker);
    await eventually(async () => (await world.store.workers.snapshot())?.workers.length === 1, { withinMs: 20_000 });
    await putWorkflows(world);
    return walk;
  }

  async stop(): Promise<void> {
    await this.worker.stop();
    await this.world.stop();
  }

  /** What the services do when there is nothing to do is no part of any scenario. Takes seven seconds. */
  async learnBackground(): Promise<void> {
    // They look after what is there: tenants, workers, scripts.
    for (const scenario of scenarios.slice(0, 1)) await this.play(scenario, () => undefined);
    const all = [...this.world.services.values()];
    for (const { operations } of all) operations.learnBackground();
    await sleep(6_000);
    for (const { operations } of all) operations.disarm();
  }

  /** Plays a scenario in which nobody dies, and notes what a service does in it. */
  async survey(scenario: Scenario, service: string): Promise<Walk> {
    const { operations } = this.world.service(service);
    await this.play(scenario, () => operations.arm());
    return { scenario, service, operations: operations.disarm() };
  }

  /** Plays a scenario once with a service that dies at a point, and looks at everything afterwards. */
  async step({ scenario, service }: Pick<Walk, 'scenario' | 'service'>, point: CrashPoint): Promise<StepOutcome> {
    const { operations, process } = this.world.service(service);
    const startedMs = Date.now();
    let died: string | undefined;
    const faults: Violation[] = [];
    try {
      await this.play(scenario, () => {
        operations.arm(point);
        void operations.death.then((name) => {
          died = name;
          if (service === 'engine') this.outages.push(outageOf(process));
        });
      });
    } catch (error) {
      faults.push({ invariant: 'I15', jobId: '', text: error instanceof Error ? error.message : String(error) });
    }
    operations.disarm();
    await process.untilReady();
    faults.push(...violations(await readHistory(this.world, this.outages)));
    return { died, faults, tookMs: Date.now() - startedMs };
  }

  private async play(scenario: Scenario, begin: () => void): Promise<void> {
    const stage: Stage = { world: this.world, worker: this.worker, begin };
    for (const ending of await scenario.play(stage)) {
      if ('jobId' in ending) await reach(this.world, ending.jobId, [ending.state]);
      else await reachRun(this.world, ending.runId, ending.status);
    }
    await this.untilAtRest();
  }

  /** Nothing is left anywhere, and for a moment nothing more comes. */
  private async untilAtRest(): Promise<void> {
    const left = () => readLeft(this.world.store, 0);
    const isQuiet = async () => Object.values(await left()).every((count) => count === 0);
    await eventually(
      async () => {
        if (!(await isQuiet())) throw new Error(`left over: ${JSON.stringify(await left())}`);
        await sleep(quietMs);
        return isQuiet();
      },
      { withinMs: liveWithinMs, everyMs: 50 },
    );
  }
}

export const modes: readonly Mode[] = ['before', 'after'];

/** Every point of a walk: each operation, both ways. */
export const pointsOf = ({ operations }: Walk): CrashPoint[] =>
  operations.flatMap((_, i) => modes.map((mode) => ({ k: i + 1, mode })));

/** The points at which something was written: dying around a read is dying after the write before it. */
export const writesOf = (walk: Walk): CrashPoint[] =>
  pointsOf(walk).filter(({ k }) => /^(FCALL|EVALSHA|PUB|ACK|[HZ]?SET|ZADD) /.test(walk.operations[k - 1] ?? ''));

/** The one command that repeats a point. */
export const command = ({ scenario, service }: Pick<Walk, 'scenario' | 'service'>, { k, mode }: CrashPoint): string =>
  `npm run chaos -- --walk --scenario ${scenario.name} --service ${service} --k ${k} --mode ${mode}`;
