import { isRunEnded, type RunStatus } from '@svc/lifecycle';
import { type RunStart, toRunState, startRun } from '@svc/workflows';
import { eventually, startService, useServers, type RunningService, person } from '@svc/testing';
import { createWorker, type JobHandler, type Worker } from '@svc/worker-sdk';
import type { RunState, WorkflowDefinition } from '@svc/workflow';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEngine, type Engine, type EnginePlan } from './engine.testing';

const allowAll = `
version: '1'
default_decision: allow
`;
const onePool = `
topics:
  job.*: [main]
pools:
  main: {}
`;

type Steps = WorkflowDefinition['steps'];

/** Call at the top of a file: a scheduler and a worker, and engines as each test starts them. */
export function useEngine({
  policy = allowAll,
  topics,
  schedulerEnv = {},
}: { policy?: string; topics?: Record<string, JobHandler>; schedulerEnv?: Record<string, string> } = {}) {
  jest.setTimeout(40_000);
  const engines: Engine[] = [];
  let scheduler: RunningService | undefined;
  let worker: Worker | undefined;
  let dir = '';
  // Before the servers' own hook: hooks run in the order they are registered, and clients must end first.
  afterAll(async () => {
    await worker?.stop();
    await scheduler?.stop();
    rmSync(dir, { recursive: true, force: true });
  }, 30_000);
  const servers = useServers({ streams: 'purge' });
  const file = (name: string) => join(dir, name);
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'svc-test-engine-'));
    writeFileSync(file('safety.yaml'), policy);
    writeFileSync(file('pools.yaml'), onePool);
    scheduler = await startService('scheduler', servers, {
      SAFETY_POLICY_PATH: file('safety.yaml'),
      POOL_CONFIG_PATH: file('pools.yaml'),
      ...schedulerEnv,
    });
    worker = createWorker({
      id: 'w1',
      pool: 'main',
      concurrency: 32,
      natsUrl: servers.natsUrl,
      redisUrl: servers.redisUrl,
      heartbeatMs: 100,
      signals: [],
      onError: () => undefined,
      topics: topics ?? { 'job.>': ({ context }) => ({ echo: context }) },
    });
    await worker.start();
  }, 60_000);
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.stop();
  }, 30_000);

  const first = (): Engine => {
    const [engine] = engines;
    if (!engine) throw new Error('start an engine first');
    return engine;
  };
  let named = 0;

  const use = {
    servers,
    get engine() {
      return first();
    },
    get store() {
      return first().platform.store;
    },
    async start(plan: EnginePlan = {}): Promise<Engine> {
      const { redisUrl, natsUrl } = servers;
      const engine = await startEngine({ redisUrl, natsUrl, policyPath: file('safety.yaml') }, plan);
      engines.push(engine);
      return engine;
    },
    async stop(engine: Engine): Promise<void> {
      engines.splice(engines.indexOf(engine), 1);
      await engine.stop();
    },
    /** Stores a definition. @returns its id */
    async workflow(steps: Steps, more: Partial<WorkflowDefinition> = {}, tenant = 'acme'): Promise<string> {
      const id = more.id ?? `flow-${(named += 1)}`;
      const document = { org_id: tenant, name: id, timeout_sec: 0, ...more, id, steps };
      await use.store.workflows.write({ tenant, id, document, by: 'ann' });
      return id;
    },
    /** Starts a run. @returns its id */
    async run(
      workflowId: string,
      input: Record<string, unknown> = {},
      more: Pick<Partial<RunStart>, 'dryRun'> = {},
      tenant = 'acme',
    ): Promise<string> {
      const start = { workflowId, input, dryRun: false, ...more };
      return (await startRun(first().ctx, person('ann', { tenant }), start)).runId;
    },
    /** Stores a definition and starts a run of it. */
    async submitRun(steps: Steps, input: Record<string, unknown> = {}, more: Partial<WorkflowDefinition> = {}) {
      return use.run(await use.workflow(steps, more), input);
    },
    async state(id: string): Promise<RunState> {
      const loaded = await use.store.runs.load(id);
      if (!loaded) throw new Error(`there is no run ${id}`);
      return toRunState(loaded);
    },
    /** Waits until the run has ended. */
    ended: (id: string, status?: RunStatus): Promise<RunState> =>
      eventually(
        async () => {
          const run = await use.state(id);
          if (!isRunEnded(run.status)) throw new Error(`run is ${run.status}: ${JSON.stringify(run.steps)}`);
          if (status) expect([run.status, run.error]).toEqual([status, run.error]);
          return run;
        },
        { withinMs: 20_000, everyMs: 20 },
      ),
    /** Waits until a step of the run has a status. */
    step: (id: string, step: string, status: string): Promise<RunState> =>
      eventually(
        async () => {
          const run = await use.state(id);
          expect(run.steps[step]?.status).toBe(status);
          return run;
        },
        { withinMs: 20_000, everyMs: 20 },
      ),
    timeline: async (id: string) =>
      (await use.store.runs.timeline(id, 1_000)) as { type: string; step_id?: string; status?: string }[],
    postEvent: (id: string, event: object) => use.store.runs.post('*', id, event),
  };
  return use;
}
