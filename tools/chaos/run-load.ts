import { runEnds } from '@svc/lifecycle';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JournalClient } from './client';
import type { People } from './people';
import { pick } from './seeded';
import type { ChaosWorkflow } from './workflows';

type Act = (people: People, random: () => number) => Promise<unknown>;

/** Time that a client waits for its result. */
const curiousMs = 60_000;

const start = ({ admin }: People, workflow: ChaosWorkflow, input: object = {}, key: string = randomUUID()) =>
  admin.startRun(workflow, key, input, 120_000);

/** Behaviors of clients with workflows. */
const acts: readonly [Act, ...Act[]] = [
  async (people) => {
    const key = randomUUID();
    await Promise.all([1, 2, 3].map(() => start(people, 'chaos-linear', {}, key)));
  },
  (people) => start(people, 'chaos-fan-out', { items: [1, 2, 3, 4, 5, 6] }),
  (people) => start(people, 'chaos-timer'),
  (people) => start(people, 'chaos-timer'),
  (people) => start(people, 'chaos-saga'),
  (people) => start(people, 'chaos-child'),
  async (people, random) => {
    const { admin, approver } = people;
    const jobId = `${await start(people, 'chaos-gate')}:ask@1`;
    if (!(await seen(() => admin.state(jobId), ['APPROVAL_REQUIRED']))) return;
    const all = [
      () => Promise.all([approver.decide('approve', jobId), admin.decide('approve', jobId)]),
      () => Promise.all([approver.decide('approve', jobId), admin.decide('reject', jobId)]),
      () => approver.decide('reject', jobId),
    ] as const;
    await pick<() => Promise<unknown>>(all, random)();
  },
  async (people, random) => {
    const runId = await start(people, 'chaos-long');
    await sleep(random() * 1_500);
    await people.admin.cancelRun('chaos-long', runId, { compensate: random() < 0.5 });
  },
  async (people, random) => {
    const runId = await start(people, 'chaos-signal');
    await sleep(random() * 500);
    const id = randomUUID();
    await Promise.all([1, 2].map(() => people.admin.signal(runId, 'cleared', id)));
  },
  async (people) => {
    const runId = await start(people, 'chaos-linear');
    if ((await seen(() => people.admin.runStatus(runId), runEnds)) !== 'succeeded') return;
    await people.admin.rerun(runId, 'label');
  },
];

/** Runs one client with a random workflow behavior. */
export const actOnRuns: Act = (people, random) => pick(acts, random)(people, random);

/** Polls until one of these statuses is reached. @returns undefined on timeout */
async function seen(ask: () => ReturnType<JournalClient['state']>, wanted: readonly string[]) {
  const endMs = Date.now() + curiousMs;
  while (Date.now() < endMs) {
    const state = await ask();
    if (state !== undefined && wanted.includes(state)) return state;
    await sleep(250);
  }
  return undefined;
}
