import {
  encodePacket,
  jobRequestPacket,
  subjects,
  submitJob as submitEndpoint,
  type Caller,
  type SubmitBody,
} from '@svc/contract';
import { silentLogger } from '@svc/runtime';
import { addSchedule, pauseSchedule, putSchedule, rerunRun, startRun } from '@svc/workflows';
import { approveJob, rejectJob } from '@svc/approvals';
import { openTopics, topicLog } from '@svc/registry';
import { remediateJob, retryDeadLetter, submitJob } from '@svc/jobs';
import { eventually, person } from '@svc/testing';
import { useEngine } from './use-engine.testing';

const use = useEngine({
  policy: `
version: '1'
default_decision: allow
rules:
  - id: ask-first
    match: { topics: [job.pay] }
    decision: require_approval
    reason: money
  - id: not-so
    match: { topics: [job.wire] }
    decision: deny
    reason: pay instead
    remediations: [{ id: pay, title: Pay, replacement_topic: job.pay }]
`,
});
const remarks = { reason: 'fine', note: '' };
const [ann, ben, eve, zoe] = [person('ann'), person('ben'), person('eve'), person('zoe')];
/** An API key without a principal. */
const keyOnly: Caller = { ...person('robot'), principalId: '', submitterId: 'apikey:key-of-robot|principal:' };
const pay = { pay: { topic: 'job.pay', input: { euro: 7 } } };

/** The identities under which one person may return. */
const guises = (caller: Caller): Caller[] => {
  const [key = ''] = caller.submitterId.split('|');
  return [
    caller,
    { ...caller, principalId: 'other', submitterId: `${key}|principal:other` },
    ...(caller.principalId ? [{ ...caller, submitterId: `jwt:1|principal:${caller.principalId}` }] : []),
  ];
};

describe('the requester cannot approve their own request', () => {
  const heldJob = (jobId: string) =>
    eventually(
      async () => {
        expect((await use.store.jobs.load(jobId))?.state).toBe('APPROVAL_REQUIRED');
        return jobId;
      },
      { withinMs: 20_000 },
    );
  const heldStep = (runId: string, step = 'pay') => heldJob(`${runId}:${step}@1`);
  const workflow = async (author: Caller, steps: object = pay): Promise<string> => {
    const id = `flow-${++made}`;
    const document = { id, org_id: 'acme', name: id, timeout_sec: 0, steps };
    await use.store.workflows.write({ tenant: 'acme', id, document, by: 'x', author: author.submitterId });
    return id;
  };
  let made = 0;
  const started = async (by: Caller, workflowId: string) =>
    (await startRun(use.engine.ctx, by, { workflowId, input: {}, dryRun: false })).runId;
  const firstRun = (workflowId: string) =>
    eventually(async () => {
      const [run] = await use.engine.ctx.store.runIndex.ofWorkflow('acme', workflowId, 1);
      if (!run) throw new Error('no run yet');
      return run.id;
    });
  const fields = { name: '', time_zone: 'UTC', overlap: 'skip', misfire: 'run_once', input: {} } as const;
  const agents = () => ({
    ...use.engine.ctx,
    links: { find: async () => undefined },
    delegation: { keys: undefined, maxDepth: 3 },
    mayImpersonate: () => false,
  });
  const resubmit = () => ({ ...use.engine.ctx, agents: agents() });
  const submitted = async (by: Caller, topic: string): Promise<string> => {
    const { ctx } = use.engine;
    const { value } = submitEndpoint.body?.validate({ prompt: 'x', topic }) ?? {};
    const topics = openTopics({ ...ctx, events: topicLog(silentLogger), enforcement: undefined });
    const settings = { ...ctx.settings, policyFailMode: 'closed', defaultDeadline: false } as const;
    const outcome = await submitJob(
      {
        ...ctx,
        topics,
        agents: agents(),
        license: () => ({ maxPromptChars: 1_000, maxWorkers: 0, maxConcurrentJobs: 0 }),
        settings,
        onFailOpen: () => undefined,
      },
      by,
      value as SubmitBody,
      {},
    );
    return outcome.jobId;
  };

  type Made = Promise<{ job: string; behind: Caller[] }>;
  const ways: Record<string, () => Made> = {
    'a job': async () => ({ job: await submitted(ann, 'job.pay'), behind: [ann] }),
    'a job of an API key without a principal': async () => ({
      job: await submitted(keyOnly, 'job.pay'),
      behind: [keyOnly],
    }),
    'a packet from the bus': async () => {
      const request = { job_id: `bus-${++made}`, topic: 'job.pay', tenant_id: 'acme', principal_id: 'ann' };
      const packet = jobRequestPacket({ trace_id: 't', sender_id: 'outside', nowUs: 1 }, request);
      await use.engine.platform.bus.publishDurableBytes(subjects.jobSubmit.name, encodePacket(packet));
      return { job: request.job_id, behind: [person('ann', { submitterId: 'principal:ann' })] };
    },
    'a step of a run, and the author of its workflow': async () => ({
      job: await heldStep(await started(ann, await workflow(eve))),
      behind: [ann, eve],
    }),
    'a step of a sub-workflow that was edited after the parent started': async () => {
      const child = await workflow(zoe);
      const parent = {
        sub: { type: 'subworkflow', input: { workflow_id: child }, depends_on: ['wait'] },
        wait: { type: 'delay', delay_sec: 1 },
      };
      const run = await started(ann, await workflow(ann, parent));
      const document = { id: child, org_id: 'acme', name: 'edited', timeout_sec: 0, steps: pay };
      await use.store.workflows.write({ tenant: 'acme', id: child, document, by: 'x', author: eve.submitterId });
      const childRun = await eventually(
        async () => {
          const { child_run_id: id } = (await use.state(run)).steps['sub'] ?? {};
          if (id === undefined) throw new Error('no child run yet');
          return id;
        },
        { withinMs: 20_000 },
      );
      return { job: await heldStep(childRun), behind: [ann, eve] };
    },
    'a rerun': async () => {
      const first = await started(ann, await workflow(zoe, { go: { topic: 'job.go' } }));
      await use.ended(first, 'succeeded');
      const { workflow_id: id } = await use.state(first);
      const document = { id, org_id: 'acme', name: id, timeout_sec: 0, steps: pay };
      await use.store.workflows.write({ tenant: 'acme', id, document, by: 'x', author: eve.submitterId });
      const run = await rerunRun(use.engine.ctx, ben, { runId: first, dryRun: false, requestId: 'r' });
      return { job: await heldStep(run), behind: [ann, ben, eve] };
    },
    'a schedule of an API key without a principal': async () => {
      const id = await workflow(zoe);
      const { id: schedule } = await addSchedule(use.engine.ctx, keyOnly, id, {
        ...fields,
        paused: false,
        interval_sec: 1,
      });
      const run = await firstRun(id);
      await pauseSchedule(use.engine.ctx, zoe, id, schedule);
      return { job: await heldStep(run), behind: [keyOnly] };
    },
    'a schedule, its author and its last editor': async () => {
      const id = await workflow(zoe);
      const { id: schedule } = await addSchedule(use.engine.ctx, ann, id, { ...fields, paused: true, interval_sec: 1 });
      await putSchedule(use.engine.ctx, ben, id, schedule, { ...fields, paused: false, interval_sec: 1 });
      const run = await firstRun(id);
      await pauseSchedule(use.engine.ctx, zoe, id, schedule);
      return { job: await heldStep(run), behind: [ann, ben] };
    },
    'a retried dead letter': async () => {
      const first = await heldJob(await submitted(ann, 'job.pay'));
      await rejectJob(use.engine.ctx, zoe, first, remarks);
      return { job: await retryDeadLetter(resubmit(), ben, first), behind: [ann, ben] };
    },
    'a remediation': async () => {
      const first = await submitted(ann, 'job.wire').catch(() => undefined);
      const denied =
        first ?? (await use.store.index.page('acme', { states: ['DENIED'], topic: 'job.wire' }, 1)).items[0]?.id ?? '';
      return { job: (await remediateJob(resubmit(), ben, denied, undefined)).jobId, behind: [ann, ben] };
    },
  };

  it.each(Object.entries(ways))('%s', async (_, make) => {
    const { ctx } = await use.start();
    const { job, behind } = await make();
    await heldJob(job);

    for (const caller of behind.flatMap(guises)) {
      for (const resolve of [approveJob, rejectJob]) {
        await expect(resolve(ctx, caller, job, remarks)).rejects.toMatchObject({ errorCode: 'self_approval_denied' });
      }
    }
    expect((await approveJob(ctx, person('carol'), job, remarks)).kind).toBe('resolved');
  });
});
