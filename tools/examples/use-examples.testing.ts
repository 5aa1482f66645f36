import type { JobItem, RunView, TimelineView } from '@svc/contract';
import { eventually } from '@svc/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type Answer } from '../demo/client';
import { demoWorkers, Workers } from '../demo/workers';
import { startStack, type KeyName, type Stack } from '../stack';
import { exampleIds, readExample } from './read-examples';

/** Stores all examples in a running stack with a worker, and provides the operations of the tests. */
export function useExamples() {
  let stack: Stack;
  let workers: Workers;
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-examples-'));
  const started = new Set<string>();

  beforeAll(async () => {
    const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
    stack = await startStack({ dataDir, env, usualPorts: false, tls: false, workers: demoWorkers });
    workers = await Workers.prepare(stack.info);
    await workers.start('crane-1');
    for (const name of exampleIds) {
      const { status, body } = await use.as('admin').post('/api/v1/workflows', readExample(name));
      if (status !== 201) throw new Error(`${name} was not stored: ${status} ${JSON.stringify(body)}`);
    }
  }, 180_000);
  afterAll(async () => {
    await workers?.stop();
    await stack?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }, 30_000);

  const runPath = (id: string) => `/api/v1/workflow-runs/${id}`;
  const ok = ({ status, body }: Answer): unknown => {
    if (status !== 200) throw new Error(`response ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const use = {
    /** Names of the examples with at least one run, started by a test or by another run. */
    started: () => [...started].sort(),
    as: (who: KeyName) => new Client(stack.info, who),
    start: (name: string, input: object = {}, who: KeyName = 'operator') =>
      use.as(who).post(`/api/v1/workflows/example-${name}/runs`, input),
    /** @returns the run's id */
    async begin(name: string, input: object = {}): Promise<string> {
      const { run_id: id } = ok(await use.start(name, input)) as { run_id: string };
      started.add(name);
      return id;
    },
    run: async (id: string, waitMs = 0) =>
      ok(await use.as('viewer').get(`${runPath(id)}?wait_ms=${waitMs}`)) as RunView,
    /** Waits for the end of the run. */
    async ended(id: string): Promise<RunView> {
      const hasEnded = async () => expect((await use.run(id, 20_000)).completed_at).not.toBeNull();
      await eventually(hasEnded, { withinMs: 60_000 });
      const run = await use.run(id);
      for (const { child_run_id: child } of Object.values(run.steps)) {
        if (child) started.add((await use.run(child)).workflow_id.replace('example-', ''));
      }
      return run;
    },
    /** Starts a run of the example with this input, and waits for its end. */
    done: async (name: string, input: object = {}) => use.ended(await use.begin(name, input)),
    /** Resolves when a step waits for an external event. */
    async untilWaits(id: string, step: string): Promise<void> {
      const waits = async () => expect((await use.run(id)).steps[step]?.status).toBe('waiting');
      await eventually(waits, { withinMs: 15_000, everyMs: 20 });
    },
    /** Resolves when an approval can be resolved, shortly after its step starts to wait. */
    async untilOpen(gate: string): Promise<void> {
      const isHeld = async () => expect(await use.job(gate)).toMatchObject({ state: 'APPROVAL_REQUIRED' });
      await eventually(isHeld, { withinMs: 15_000, everyMs: 20 });
    },
    /** Events of the timeline, as `type step`. */
    async timeline(id: string): Promise<string[]> {
      const events = ok(await use.as('viewer').get(`${runPath(id)}/timeline?limit=500`)) as TimelineView[];
      return events.map(({ type, step_id: step, status }) => `${type} ${step ?? status}`);
    },
    jobs: async (id: string) => ok(await use.as('viewer').get(`/api/v1/traces/${id}`)) as JobItem[],
    job: async (id: string) => (await use.as('viewer').get(`/api/v1/jobs/${encodeURIComponent(id)}`)).body,
    decide: (verdict: 'approve' | 'reject', job: string, who: KeyName) =>
      use.as(who).post(`/api/v1/approvals/${encodeURIComponent(job)}/${verdict}`, { reason: 'seen' }),
    signal: (id: string, name: string, payload: unknown) =>
      use.as('operator').post(`${runPath(id)}/signals/${name}`, { payload }),
    say: (id: string, body: object) => use.as('admin').post(`${runPath(id)}/chat`, body),
  };
  return use;
}
