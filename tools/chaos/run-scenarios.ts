import { isRunEnded, type RunStatus } from '@svc/lifecycle';
import { toRunState } from '@svc/workflows';
import { eventually } from '@svc/testing';
import type { RunState } from '@svc/workflow';
import { randomUUID } from 'node:crypto';
import { heldBy, reach, type Ending, type Scenario, type Stage } from './stage';
import type { ChaosWorkflow } from './workflows';
import type { World } from './world';

const start = ({ world }: Stage, workflow: ChaosWorkflow, input: object = {}) =>
  world.client('admin').startRun(workflow, randomUUID(), input);

const one = (runId: string, status: RunStatus): Ending[] => [{ runId, status }];

async function loadRun({ store }: World, runId: string): Promise<RunState> {
  const loaded = await store.runs.load(runId);
  if (!loaded) throw new Error(`run ${runId} does not exist`);
  return toRunState(loaded);
}

/** Polls the store instead of the gateway, which may be down. */
const untilRun = (world: World, runId: string, isSo: (run: RunState) => boolean): Promise<RunState> =>
  eventually(
    async () => {
      const run = await loadRun(world, runId);
      if (!isSo(run)) throw new Error(`run ${runId} is ${run.status}: ${JSON.stringify(run.steps)}`);
      return run;
    },
    { withinMs: 60_000, everyMs: 20 },
  );

const stepIs = (step: string, status: string) => (run: RunState) => run.steps[step]?.status === status;

/** Workflow scenarios, each with the services whose crashes it tests. */
export const runScenarios: readonly Scenario[] = [
  {
    name: 'run-start',
    services: ['api', 'engine'],
    async play(stage) {
      stage.begin();
      return one(await start(stage, 'chaos-linear'), 'succeeded');
    },
  },
  {
    name: 'run-step',
    services: ['scheduler', 'engine'],
    async play(stage) {
      const runId = await start(stage, 'chaos-slow');
      const jobId = `${runId}:slow@1`;
      const request = await heldBy(stage, jobId);
      await reach(stage.world, jobId, ['RUNNING']);
      stage.begin();
      await stage.worker.answer(request, { status: 'SUCCEEDED' });
      await stage.worker.answer(request, { status: 'SUCCEEDED' });
      return one(runId, 'succeeded');
    },
  },
  {
    name: 'run-fan-out',
    services: ['api', 'engine', 'scheduler'],
    async play(stage) {
      stage.begin();
      return one(await start(stage, 'chaos-fan-out', { items: [1, 2, 3, 4, 5, 6] }), 'succeeded');
    },
  },
  {
    name: 'run-timer',
    services: ['engine'],
    async play(stage) {
      stage.begin();
      return one(await start(stage, 'chaos-timer'), 'succeeded');
    },
  },
  {
    name: 'run-gate',
    services: ['api', 'engine'],
    async play(stage) {
      const { world } = stage;
      const runId = await start(stage, 'chaos-gate');
      const jobId = `${runId}:ask@1`;
      await reach(world, jobId, ['APPROVAL_REQUIRED']);
      stage.begin();
      await Promise.all([
        world.client('admin').decide('approve', jobId),
        world.client('approver').decide('approve', jobId),
      ]);
      return one(runId, 'succeeded');
    },
  },
  {
    name: 'run-cancel',
    services: ['api', 'engine', 'scheduler'],
    async play(stage) {
      const { world, worker } = stage;
      const runId = await start(stage, 'chaos-long');
      const { steps } = await untilRun(world, runId, (run) => run.steps['sub']?.child_run_id !== undefined);
      const childId = steps['sub']?.child_run_id ?? '';
      const own = await heldBy(stage, `${runId}:slow@1`);
      const inner = await heldBy(stage, `${childId}:slow@1`);
      await Promise.all([`${runId}:slow@1`, `${childId}:slow@1`].map((id) => reach(world, id, ['RUNNING'])));
      stage.begin();
      await world.client('admin').cancelRun('chaos-long', runId, { compensate: true });
      await untilRun(world, runId, ({ status }) => isRunEnded(status));
      // The worker did not receive the cancel.
      await worker.answer(own, { status: 'SUCCEEDED' });
      await worker.answer(inner, { status: 'SUCCEEDED' });
      return [...one(runId, 'cancelled'), ...one(childId, 'cancelled')];
    },
  },
  {
    name: 'run-rerun',
    services: ['api', 'engine'],
    async play(stage) {
      const { world } = stage;
      const runId = await start(stage, 'chaos-linear');
      await untilRun(world, runId, ({ status }) => isRunEnded(status));
      stage.begin();
      // Retried after a lost response, so there may be two.
      const again = await world.client('admin').rerun(runId, 'label');
      return one(again, 'succeeded');
    },
  },
  {
    name: 'run-saga',
    services: ['engine', 'scheduler'],
    async play(stage) {
      stage.begin();
      return one(await start(stage, 'chaos-saga'), 'failed');
    },
  },
  {
    name: 'run-child',
    services: ['engine'],
    async play(stage) {
      stage.begin();
      return one(await start(stage, 'chaos-child'), 'succeeded');
    },
  },
  {
    name: 'run-signal',
    services: ['api', 'engine'],
    async play(stage) {
      const { world } = stage;
      const runId = await start(stage, 'chaos-signal');
      await untilRun(world, runId, stepIs('customs', 'waiting'));
      stage.begin();
      const id = randomUUID();
      await Promise.all([1, 2].map(() => world.client('admin').signal(runId, 'cleared', id)));
      return one(runId, 'succeeded');
    },
  },
];

/** Waits until the run has ended, and checks its status. */
export async function reachRun(world: World, runId: string, status: RunStatus): Promise<void> {
  const run = await untilRun(world, runId, (run) => isRunEnded(run.status));
  if (run.status !== status) throw new Error(`run ${runId} ended ${run.status}, not ${status}: ${run.error?.message}`);
}
