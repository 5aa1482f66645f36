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
import { trackOutage, startWorld, type World, type WorldOptions } from './world';

/** One service in one scenario, with its operations. */
export interface Walk {
  scenario: Scenario;
  service: string;
  /** Names of the operations in order, from a pass without a crash. */
  operations: readonly string[];
}

export interface StepOutcome {
  /** The operation at which the service was killed; undefined when it made fewer operations this time. */
  died: string | undefined;
  faults: Violation[];
  tookMs: number;
}

/** Longest time from a kill until all work has ended: lock, lease, redelivery and scan in sequence. */
const liveWithinMs = 60_000;
const quietMs = 300;

/** A world for scenarios that run one after another, each with one crash of a service. */
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

  /** Records the operations of idle services, which belong to no scenario. Takes seven seconds. */
  async learnBackground(): Promise<void> {
    // Idle services still poll tenants, workers and scripts.
    for (const scenario of scenarios.slice(0, 1)) await this.play(scenario, () => undefined);
    const all = [...this.world.services.values()];
    for (const { operations } of all) operations.learnBackground();
    await sleep(6_000);
    for (const { operations } of all) operations.disarm();
  }

  /** Runs a scenario without a crash, and records the operations of a service. */
  async survey(scenario: Scenario, service: string): Promise<Walk> {
    const { operations } = this.world.service(service);
    await this.play(scenario, () => operations.arm());
    return { scenario, service, operations: operations.disarm() };
  }

  /** Runs a scenario once with a crash of a service at a point, then checks all invariants. */
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
          if (service === 'engine') this.outages.push(trackOutage(process));
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

  /** Resolves when no work is left, and none appears for a moment. */
  private async untilAtRest(): Promise<void> {
    const left = () => readLeft(this.world.store, 0);
    const isQuiet = async () => Object.values(await left()).every((count) => count === 0);
    await eventually(
      async () => {
        if (!(await isQuiet())) throw new Error(`left: ${JSON.stringify(await left())}`);
        await sleep(quietMs);
        return isQuiet();
      },
      { withinMs: liveWithinMs, everyMs: 50 },
    );
  }
}

export const modes: readonly Mode[] = ['before', 'after'];

/** All points of a walk: each operation, in both modes. */
export const listCrashPoints = ({ operations }: Walk): CrashPoint[] =>
  operations.flatMap((_, i) => modes.map((mode) => ({ k: i + 1, mode })));

/** The points at writes: a crash around a read equals one after the preceding write. */
export const listWritePoints = (walk: Walk): CrashPoint[] =>
  listCrashPoints(walk).filter(({ k }) => /^(FCALL|EVALSHA|PUB|ACK|[HZ]?SET|ZADD) /.test(walk.operations[k - 1] ?? ''));

/** The command that repeats a point. */
export const command = ({ scenario, service }: Pick<Walk, 'scenario' | 'service'>, { k, mode }: CrashPoint): string =>
  `npm run chaos -- --walk --scenario ${scenario.name} --service ${service} --k ${k} --mode ${mode}`;
