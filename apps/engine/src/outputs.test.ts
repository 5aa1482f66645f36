import { JobStatus, jobResultPacket, subjects } from '@svc/contract';
import { dispatchIdentity } from '@svc/decision';
import { eventually } from '@svc/testing';
import { once } from 'node:events';
import { useEngine } from './use-engine.testing';

const secret = 'AKIA' + 'IOSFODNN7REALKEY';

describe.each([
  ['in the store', {}],
  ['in its message', { SVC_RESULT_TICKET_KEYS: 'K4-result-ticket-key-of-these-tests-8sQ1' }],
])('output policy and the steps of a run, with each result %s', (_, schedulerEnv) => {
  const use = useEngine({
    schedulerEnv,
    policy: `
version: '1'
default_decision: allow
output_policy: { enabled: true }
output_rules:
  - { id: cut, severity: high, match: { topics: [job.cut], scanners: [secret] }, decision: redact }
  - { id: keep, severity: high, match: { topics: [job.keep], scanners: [secret] }, decision: quarantine }
`,
    topics: {
      'job.cut': () => ({ key: secret, kept: 'this' }),
      'job.keep': () => ({ key: secret }),
      'job.say': ({ context }) => ({ reply: context }),
    },
  });
  /** All stored and published data of a run. */
  const dumpRun = async (id: string) => JSON.stringify([await use.state(id), await use.timeline(id)]);

  it('a redacted output is replaced by its copy for later steps and for the run', async () => {
    await use.start();

    const id = await use.submitRun({
      first: { topic: 'job.cut' },
      next: { topic: 'job.say', depends_on: ['first'], input: { from: '${steps.first.output}' } },
    });

    const run = await use.ended(id, 'succeeded');
    expect(run.steps['first']?.output).toEqual({ key: '[REDACTED]', kept: 'this' });
    expect(JSON.stringify(run.output)).toContain('[REDACTED]');
    expect(await dumpRun(id)).not.toContain(secret);
  });

  it('a quarantined output fails its step and appears nowhere in the run', async () => {
    await use.start();

    const id = await use.submitRun({ first: { topic: 'job.keep' }, next: { topic: 'job.say', depends_on: ['first'] } });

    const run = await use.ended(id, 'failed');
    expect(run.steps['first']).toMatchObject({ status: 'failed', error: { code: 'step_output_quarantined' } });
    expect(await dumpRun(id)).not.toContain(secret);
    const job = await use.store.jobs.load(run.steps['first']?.job_id ?? '');
    expect(job).toMatchObject({ state: 'OUTPUT_QUARANTINED', output_safety: { phase: 'async', rule_id: 'keep' } });
  });
});

describe('a result pointer to other data', () => {
  const use = useEngine({ topics: { 'job.>': ({ signal }) => once(signal, 'abort') } });
  /** Publishes a result as worker `w1` once it holds the job, independent of its handler. */
  const answerFor = async (jobId: string, pointer: string) => {
    const dispatch = await eventually(async () => {
      const job = await use.store.jobs.load(jobId);
      expect(job?.state).toBe('RUNNING');
      return job && dispatchIdentity(job);
    });
    const head = { trace_id: '', sender_id: 'w1', nowUs: Date.now() * 1_000 };
    const status = JobStatus.JOB_STATUS_SUCCEEDED;
    const packet = jobResultPacket(head, { job_id: jobId, worker_id: 'w1', status, result_ptr: pointer, dispatch });
    await use.engine.platform.bus.publishDurable(subjects.jobResult.name, packet);
  };

  it.each(['cfg:system:policy', 'sys:workers:snapshot', 'ctx:other', 'res:other', '{s0}:dlq:entry:other'])(
    '%s: the step fails without another attempt, and no text of it is in the run',
    async (key) => {
      await use.start();
      await use.store.redis.set(key, JSON.stringify({ leaked: secret }));

      const id = await use.submitRun({
        first: { topic: 'job.any', retry: { max_retries: 3, initial_backoff_sec: 0 } },
      });
      const { steps } = await use.step(id, 'first', 'running');
      await answerFor(steps['first']?.job_id ?? '', `redis://${key}`);

      const run = await use.ended(id, 'failed');
      expect(run.steps['first']).toMatchObject({ status: 'failed', error: { code: 'result_ptr_not_own' } });
      expect(await use.timeline(id)).not.toContainEqual(expect.objectContaining({ type: 'step_retry_scheduled' }));
      expect(JSON.stringify([run, await use.timeline(id)])).not.toContain(secret);
    },
  );
});
