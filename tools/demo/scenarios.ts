import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Client } from './client';
import type { TreeLine } from './run-tree';
import type { Workers } from './workers';

export interface World {
  baseUrl: string;
  admin: Client;
  /** A second admin, because the submitter of a job cannot approve it. */
  approver: Client;
  /** Starts workflows that the other two approve. */
  operator: Client;
  workers: Workers;
  /** Prints the state of a job. */
  report(what: string, job: Detail): void;
  /** Prints the state of a run. */
  show(tree: readonly TreeLine[]): void;
  say(text: string): void;
}

/** Fields of a job that the demo checks. */
export interface Detail {
  id: string;
  state: string;
  worker_id?: string;
  attempts: number;
  safety_decision: string;
  safety_rule_id: string;
  output_safety?: { decision: string; rule_id: string; redacted_ptr?: string };
  result: unknown;
  created_at?: number;
  completed_at?: number;
  waiting_reason?: string;
}

export interface Row {
  job: string;
  verdict: string;
  rule: string;
  state: string;
  ms: number;
  ok: boolean;
  /** Differences from the expected result. */
  fault?: string;
}

export interface Scenario {
  name: string;
  /** Expected result. */
  promise: string;
  run(world: World): Promise<Row>;
}

const patienceMs = 30_000;
const detail = async (client: Client, id: string) => (await client.get(`/api/v1/jobs/${id}`)).body as unknown as Detail;

/** Polls a job until the condition holds, and prints each state change. */
async function watch(world: World, id: string, wanted: (job: Detail) => boolean): Promise<Detail> {
  const endMs = Date.now() + patienceMs;
  let seen = '';
  for (;;) {
    const job = await detail(world.admin, id);
    if (job.state !== seen) world.report(job.state, job);
    seen = job.state;
    if (wanted(job) || Date.now() > endMs) return job;
    await sleep(40);
  }
}

async function submit(world: World, body: Record<string, unknown>): Promise<Answer> {
  return world.admin.post('/api/v1/jobs', { prompt: 'unload berth 7', ...body });
}

async function submitted(world: World, body: Record<string, unknown>): Promise<string> {
  const answer = await submit(world, body);
  if (answer.status !== 200) throw new Error(`submission failed with ${answer.status} ${JSON.stringify(answer.body)}`);
  return String(answer.body['job_id']);
}

function row(job: Detail, expected: string, also: [boolean, string][] = []): Row {
  const faults = [
    ...(job.state === expected ? [] : [`ended ${job.state} instead of ${expected}`]),
    ...also.filter(([ok]) => !ok).map(([, fault]) => fault),
  ];
  return {
    job: job.id,
    verdict:
      job.output_safety && job.output_safety.decision !== 'ALLOW' ? job.output_safety.decision : job.safety_decision,
    rule: (job.output_safety?.rule_id || job.safety_rule_id) ?? '',
    state: job.state,
    ms: job.completed_at && job.created_at ? Math.round((job.completed_at - job.created_at) / 1_000) : 0,
    ok: faults.length === 0,
    ...(faults.length > 0 && { fault: faults.join('; ') }),
  };
}

const ended = ({ state }: Detail) =>
  ['SUCCEEDED', 'FAILED', 'DENIED', 'TIMEOUT', 'CANCELLED', 'OUTPUT_QUARANTINED'].includes(state);

export const scenarios: readonly Scenario[] = [
  {
    name: 'allowed',
    promise: 'SUCCEEDED',
    run: async (world) => {
      const job = await watch(world, await submitted(world, {}), ended);
      return row(job, 'SUCCEEDED', [[JSON.stringify(job.result) === '{"reply":"UNLOAD BERTH 7"}', 'wrong result']]);
    },
  },
  {
    name: 'in a sandbox',
    promise: 'SUCCEEDED with constraints',
    run: async (world) => {
      const job = await watch(world, await submitted(world, { topic: 'job.demo.sandboxed' }), ended);
      const kept = JSON.stringify(job.result) === '{"tools":["read","summarize"]}';
      return row(job, 'SUCCEEDED', [[kept, 'the worker did not get the constraints']]);
    },
  },
  {
    name: 'denied',
    promise: 'DENIED, with a remediation',
    run: async (world) => {
      const refused = await submit(world, { topic: 'job.demo.wipe', risk_tags: ['destructive'] });
      const job = await watch(world, String(refused.body['job_id']), ended);
      return row(job, 'DENIED', [[refused.status === 403, `answered ${refused.status}`]]);
    },
  },
  {
    name: 'throttled',
    promise: '429 for the fourth request of a burst',
    run: async (world) => {
      const startedMs = Date.now();
      const answers = [];
      for (let i = 0; i < 4; i++) answers.push(await submit(world, { topic: 'job.demo.burst' }));
      const last = answers.at(-1);
      const ok = answers.slice(0, 3).every(({ status }) => status === 200) && last?.status === 429;
      return {
        job: '(not stored)',
        verdict: 'THROTTLE',
        rule: 'demo-burst-pace',
        state: `${last?.status} retry after ${String(last?.headers['retry-after'])} s`,
        ms: Date.now() - startedMs,
        ok,
        ...(!ok && { fault: `answers ${answers.map(({ status }) => status).join(', ')}` }),
      };
    },
  },
  {
    name: 'held and approved',
    promise: 'held, then SUCCEEDED',
    run: async (world) => {
      const id = await submitted(world, { topic: 'job.demo.refund', context: { amount: 900 } });
      await watch(world, id, ({ state }) => state === 'APPROVAL_REQUIRED');
      const own = await world.admin.post(`/api/v1/approvals/${id}/approve`);
      const approved = await world.approver.post(`/api/v1/approvals/${id}/approve`, {
        reason: 'agreed with the customer',
      });
      const job = await watch(world, id, ended);
      return row(job, 'SUCCEEDED', [
        [own.status === 403, 'the submitter was able to approve the job'],
        [approved.status === 200, `approval failed with ${approved.status}`],
      ]);
    },
  },
  {
    name: 'held and rejected',
    promise: 'held, then DENIED',
    run: async (world) => {
      const id = await submitted(world, { topic: 'job.demo.refund', context: { amount: 90_000 } });
      await watch(world, id, ({ state }) => state === 'APPROVAL_REQUIRED');
      await world.approver.post(`/api/v1/approvals/${id}/reject`, { reason: 'far too much' });
      return row(await watch(world, id, ended), 'DENIED');
    },
  },
  {
    name: 'redacted',
    promise: 'SUCCEEDED without the address',
    run: async (world) => {
      const id = await submitted(world, { topic: 'job.demo.redact' });
      const job = await watch(world, id, ({ output_safety }) => output_safety?.redacted_ptr !== undefined);
      const text = JSON.stringify(job.result);
      const clean = text.includes('[REDACTED]') && !text.includes('example.org');
      return row(job, 'SUCCEEDED', [[clean, `the result still contains ${text}`]]);
    },
  },
  {
    name: 'quarantined and released',
    promise: 'OUTPUT_QUARANTINED, then a new run SUCCEEDED',
    run: async (world) => {
      const id = await submitted(world, { topic: 'job.demo.leak' });
      const withheld = await watch(world, id, ({ state }) => state === 'OUTPUT_QUARANTINED');
      const released = await world.admin.post(`/api/v1/dlq/${id}/retry`);
      const again = await watch(world, String(released.body['job_id']), ended);
      return row(withheld, 'OUTPUT_QUARANTINED', [
        [withheld.result === null, 'the withheld result can be read'],
        [again.state === 'SUCCEEDED', `the released run ended ${again.state}`],
      ]);
    },
  },
  {
    name: 'retried after a failure',
    promise: 'SUCCEEDED on the second attempt',
    run: async (world) => {
      const job = await watch(world, await submitted(world, { topic: 'job.demo.flaky' }), ended);
      return row(job, 'SUCCEEDED', [[job.attempts === 2, `${job.attempts} tries`]]);
    },
  },
  {
    name: 'cancelled',
    promise: 'CANCELLED while it runs',
    run: async (world) => {
      const id = await submitted(world, { topic: 'job.demo.slow' });
      await watch(world, id, ({ state }) => state === 'RUNNING');
      await world.admin.post(`/api/v1/jobs/${id}/cancel`);
      return row(await watch(world, id, ended), 'CANCELLED');
    },
  },
  {
    name: 'timed out',
    promise: 'TIMEOUT at the deadline',
    run: async (world) => {
      const id = await submitted(world, { topic: 'job.demo.slow', deadline_ms: 1_500 });
      return row(await watch(world, id, ended), 'TIMEOUT');
    },
  },
  {
    name: 'retried after its worker was killed',
    promise: 'SUCCEEDED on another worker',
    run: async (world) => {
      const id = await submitted(world, { topic: 'job.demo.long' });
      const running = await watch(world, id, ({ state, worker_id }) => state === 'RUNNING' && worker_id !== undefined);
      world.report(`killing ${running.worker_id}`, running);
      world.workers.kill(running.worker_id ?? '');
      const job = await watch(world, id, ended);
      return row(job, 'SUCCEEDED', [
        [job.attempts > 1, 'it was not retried'],
        [job.worker_id !== running.worker_id, 'it ran on the dead worker'],
      ]);
    },
  },
];
