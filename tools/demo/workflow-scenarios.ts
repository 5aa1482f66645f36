import type { ApprovalView, RunView, TimelineView } from '@svc/contract';
import { setTimeout as sleep } from 'node:timers/promises';
import { readExample } from '../examples/read-examples';
import type { Client } from './client';
import { drawRun, type Flow, type ShownRun } from './run-tree';
import type { Row, Scenario, World } from './scenarios';

const patienceMs = 30_000;
const ended = ({ run }: ShownRun) => run.completed_at !== null;
const readFlow = (workflowId: string) => readExample(workflowId.replace(/^example-/, '')) as unknown as Flow;

/** Body of a response, which must be 2xx. */
async function must<Body>(call: Promise<{ status: number; body: unknown }>): Promise<Body> {
  const { status, body } = await call;
  if (status >= 300) throw new Error(`request failed with ${status} ${JSON.stringify(body)}`);
  return body as Body;
}

/** Stores examples and starts the last one, as a user who cannot approve it. @returns the run id */
async function start({ admin, operator }: World, names: readonly string[], input: object): Promise<string> {
  for (const name of names) await must(admin.post('/api/v1/workflows', readExample(name)));
  const runs = `/api/v1/workflows/example-${names.at(-1)}/runs`;
  return (await must<{ run_id: string }>(operator.post(runs, input))).run_id;
}

const read = (client: Client, id: string) => must<RunView>(client.get(`/api/v1/workflow-runs/${id}`));

/** A run with its child runs and open gates. */
async function look(client: Client, id: string): Promise<ShownRun> {
  const run = await read(client, id);
  const begun = Object.values(run.steps).flatMap(({ child_run_id: child }) => child ?? []);
  const children = new Map<string, ShownRun>();
  for (const child of begun) children.set(child, await look(client, child));
  const gates = Object.values(run.steps).some(waitsForPeople) ? await openGates(client) : new Map<string, string>();
  return { run, flow: readFlow(run.workflow_id), children, gates };
}

const waitsForPeople = ({ status, job_id: jobId }: RunView['steps'][string]) => status === 'waiting' && Boolean(jobId);

async function openGates(client: Client): Promise<Map<string, string>> {
  const list = client.get('/api/v1/approvals?include_resolved=false');
  const { items } = await must<{ items: ApprovalView[] }>(list);
  const inWords = ({ approvals = 0, approvals_needed: needed = 1 }: ApprovalView) => `${approvals} of ${needed} agreed`;
  return new Map(items.map((item) => [item.job.id, inWords(item)]));
}

/** Shows the progress of a run until the condition holds or it has ended. */
async function follow(world: World, id: string, wanted: (shown: ShownRun) => boolean): Promise<RunView> {
  const endMs = Date.now() + patienceMs;
  for (;;) {
    const shown = await look(world.admin, id);
    world.show(drawRun(shown));
    if (wanted(shown) || ended(shown) || Date.now() > endMs) return shown.run;
    await sleep(40);
  }
}

function row(run: RunView, expected: string, about: Pick<Row, 'verdict' | 'rule'>, also: [boolean, string][]): Row {
  const state = run.status.toUpperCase();
  const faults = [
    ...(state === expected ? [] : [`ended ${state} instead of ${expected}: ${run.error?.message ?? ''}`]),
    ...also.filter(([ok]) => !ok).map(([, fault]) => fault),
  ];
  const ms = run.completed_at === null ? 0 : Date.parse(run.completed_at) - Date.parse(run.created_at);
  return { job: run.id, ...about, state, ms, ok: faults.length === 0, ...(faults.length > 0 && { fault: faults.join('; ') }) }; // prettier-ignore
}

export const workflowScenarios: readonly Scenario[] = [
  {
    name: 'a gated workflow',
    promise: 'waits for two approvals, then SUCCEEDED',
    run: async (world) => {
      const id = await start(world, ['inspection', 'gated'], {
        ship: 'Marguerite',
        crates: ['tea', 'silk', 'pepper', 'clocks'],
      });
      const board = `/admin/queues/queue/workflow-runs/run-${id}`;
      world.say(`the same tree in Bull Board: ${world.baseUrl}${board}`);
      // The gate opens shortly after its step starts waiting.
      await follow(world, id, ({ gates }) => gates.has(`${id}:board@1`));
      const gate = `/api/v1/approvals/${encodeURIComponent(`${id}:board@1`)}/approve`;
      const own = await world.operator.post(gate);
      world.say(`the user who started it cannot approve: ${own.status} ${String(own.body['code'])}`);
      await must(world.admin.post(gate, { reason: 'the berth is free' }));
      const half = await follow(world, id, () => true);
      await must(world.approver.post(gate, { reason: 'the crew is here' }));
      const run = await follow(world, id, ended);
      return row(run, 'SUCCEEDED', { verdict: 'REQUIRE_APPROVAL', rule: 'approval-gates' }, [
        [own.status === 403, 'the user who started it was able to approve'],
        [half.steps['board']?.status === 'waiting', 'one approval was enough'],
      ]);
    },
  },
  {
    name: 'a workflow that is rolled back',
    promise: 'FAILED, and completed steps compensated, newest first',
    run: async (world) => {
      const id = await start(world, ['saga'], { euro: 9_000 });
      const run = await follow(world, id, ended);
      const events = await must<unknown>(world.admin.get(`/api/v1/workflow-runs/${id}/timeline`));
      const undone = (events as TimelineView[])
        .filter(({ type }) => type === 'step_compensation_started')
        .map(({ step_id: step }) => step);
      world.say(`undone: ${undone.join(', ')}`);
      return row(run, 'FAILED', { verdict: 'ALLOW', rule: 'demo-allowed' }, [
        [undone.join() === 'crew,crane,ship', `undone was ${undone.join()}`],
      ]);
    },
  },
  {
    name: 'a workflow with a timer',
    promise: 'SUCCEEDED, not before the timer is due',
    run: async (world) => {
      const run = await follow(world, await start(world, ['timer'], {}), ended);
      const { started_at: from = '', completed_at: to = '' } = run.steps['dry'] ?? {};
      const tookMs = Date.parse(to) - Date.parse(from);
      return row(run, 'SUCCEEDED', { verdict: 'ALLOW', rule: 'demo-allowed' }, [
        [tookMs >= 2_000, `its timer took ${tookMs} ms`],
      ]);
    },
  },
];
