import { eventually, startService, type RunningService } from '@svc/testing';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import { createRunClient } from './given-runs.testing';

/** API operations on runs that an engine processes. */
describe('active runs', () => {
  const api = useApi();
  const runs = createRunClient(api);
  let engine: RunningService | undefined;
  beforeAll(async () => void (engine = await startService('engine', api.servers)), 60_000);
  afterAll(() => engine?.stop(), 30_000);

  interface Seen {
    status: string;
    steps: Record<
      string,
      { status: string; job_id?: string; output?: unknown; skip_reason?: string; children?: object }
    >;
    [field: string]: unknown;
  }
  const seen = async (id: string) => (await runs.get(id)).body as unknown as Seen;
  const until = (id: string, status: string) =>
    eventually(
      async () => {
        const run = await seen(id);
        expect([run.status, run['error']]).toEqual([status, run['error']]);
        return run;
      },
      { withinMs: 15_000, everyMs: 20 },
    );
  // Engines cache definitions by id and version, and stores are emptied between tests.
  let flowId = '';
  let flows = 0;
  beforeEach(() => (flowId = `intake-${(flows += 1)}`));
  const workflow = (steps: object) => runs.workflow(steps, { id: flowId });
  const startRun = async (steps: object, input: object = {}, status = 'waiting') => {
    await workflow(steps);
    const id = await runs.run(input, { workflow: flowId });
    await until(id, status);
    return id;
  };
  const cancel = (id: string, of = flowId) => api.as('admin').post(`/api/v1/workflows/${of}/runs/${id}/cancel`);
  const remove = (id: string) => api.as('admin').del(`/api/v1/workflow-runs/${id}`);
  const rerun = (id: string, body?: object) => api.as('boss').post(`/api/v1/workflow-runs/${id}/rerun`, body);
  const signal = (id: string, name: string, body?: object) =>
    api.as('admin').post(`/api/v1/workflow-runs/${id}/signals/${encodeURIComponent(name)}`, body);
  const timeline = async (id: string, query = '') =>
    (await api.as('viewer').get(`/api/v1/workflow-runs/${id}/timeline${query}`)).body as unknown as Record<
      string,
      unknown
    >[];

  const pause = { type: 'delay', delay_sec: 600 };
  const arrived = { type: 'signal', signal: 'arrived' };

  describe('GET', () => {
    it('200: step statuses, timers with the remaining time, and the current step', async () => {
      const steps = {
        tally: { type: 'transform', input: { n: '${length(input.crates)}' }, output_path: 'totals' },
        each: { topic: 'job.default', for_each: 'input.crates', input: { crate: '${item}' }, depends_on: ['tally'] },
        zz: { ...arrived, depends_on: ['tally'] },
        pause: { ...pause, depends_on: ['tally'] },
        late: { depends_on: ['zz', 'pause'], topic: 'job.default' },
      };
      const id = await startRun(steps, { crates: ['a', 'b'] }, 'running');
      const run = await seen(id);

      expect(run).toMatchObject({
        current_step: 'each',
        context: { totals: { n: 2 } },
        started_at: expect.stringMatching(/^20\d\d-.*Z$/) as string,
        steps: {
          tally: { status: 'succeeded', output: { n: 2 } },
          each: {
            status: 'running',
            resolved_items: ['a', 'b'],
            children: {
              'each[1]': { step_id: 'each[1]', item: 'b', job_id: `${id}:each[1]@1`, input: { crate: 'b', item: 'b' } },
            },
          },
          zz: { status: 'waiting' },
          late: { status: 'pending' },
        },
        timers: [{ workflow_id: flowId, run_id: id, step_id: 'pause' }],
      });
      const [timer] = run['timers'] as { remaining_ms: number; fires_at: string }[];
      expect(timer?.remaining_ms).toBeGreaterThan(500_000);
      expect(Date.parse(timer?.fires_at ?? '')).toBeGreaterThan(Date.now() + 500_000);

      const { items } = await runs.list('?status=Running');
      expect(items[0]).toMatchObject({ id, current_step: 'each', steps: { each: { status: 'running' } } });
      expect(items[0]?.['steps']).toMatchObject({ each: expect.not.objectContaining({ children: expect.anything() as object }) as object }); // prettier-ignore
    });

    it('200: the timeline from its start, up to the limit', async () => {
      const id = await startRun({ log: { type: 'transform', input: { secret: 'gold' } }, arrived });

      const events = await timeline(id);

      expect(events[0]).toMatchObject({ type: 'run_status', run_id: id, workflow_id: flowId, status: 'running' });
      expect(events.map(({ type }) => type)).toContain('step_transform_completed');
      expect(JSON.stringify(events)).not.toContain('gold');
      expect(await timeline(id, '?limit=1')).toEqual(events.slice(0, 1));
    });
  });

  describe('POST …/cancel', () => {
    it('204: the run has ended before the response, and a repeat is a no-op', async () => {
      const id = await startRun({ arrived, job: { topic: 'job.default' } }, {}, 'running');
      const job = `${id}:job@1`;
      await eventually(async () => expect((await api.as('viewer').get(`/api/v1/jobs/${encodeURIComponent(job)}`)).status).toBe(200)); // prettier-ignore

      expect((await cancel(id)).status).toBe(204);

      const run = await seen(id);
      expect(run).toMatchObject({ status: 'cancelled', error: { message: 'cancelled by ann', code: 'cancelled' } });
      expect([run.steps['arrived']?.status, run.steps['job']?.status]).toEqual(['cancelled', 'cancelled']);
      expect(run).not.toHaveProperty('timers');
      await eventually(async () =>
        expect((await api.as('viewer').get(`/api/v1/jobs/${encodeURIComponent(job)}`)).body['state']).toBe('CANCELLED'),
      );
      expect((await cancel(id)).status).toBe(204);
      expect((await seen(id))['updated_at']).toBe(run['updated_at']);
    });

    it('409 for a run that ended otherwise; 404 for a run of another workflow', async () => {
      const id = await startRun({ a: { type: 'transform', input: { n: 1 } } }, {}, 'succeeded');

      expect((await cancel(id)).body).toMatchObject({
        status: 409,
        code: 'RUN_NOT_CANCELLABLE',
        run_status: 'succeeded',
      });
      expect(statusAndCode(await cancel(id, 'other'))).toEqual({ status: 404, code: 'run_not_found' });
      expect(statusAndCode(await cancel('none'))).toEqual({ status: 404, code: 'run_not_found' });
    });
  });

  describe('DELETE', () => {
    it('204: an active run is cancelled first, and only its idempotency key is kept', async () => {
      await workflow({ arrived, pause, job: { topic: 'job.default' } });
      const once = { workflow: flowId, headers: { 'Idempotency-Key': 'once' } };
      const id = await runs.run({}, once);
      await until(id, 'running');

      expect((await remove(id)).status).toBe(204);

      expect((await runs.get(id)).status).toBe(404);
      expect((await runs.list()).ids).toEqual([]);
      const left = (await api.store.redis.keys('*')).filter((key) => key.includes(id) && key.includes(':wf:'));
      expect(left).toEqual([]);
      expect(await api.store.redis.zcard('svc:wf:delay:timers')).toBe(0);
      await eventually(async () =>
        expect((await api.as('viewer').get(`/api/v1/jobs/${encodeURIComponent(`${id}:job@1`)}`)).body['state']).toBe('CANCELLED'),
      ); // prettier-ignore
      expect(statusAndCode(await remove(id))).toEqual({ status: 404, code: 'run_not_found' });
      expect((await runs.start({}, once)).body).toEqual({ run_id: id });
    });

    it('204 for each of many concurrent deletes', async () => {
      const id = await startRun({ arrived });

      const answers = await Promise.all(Array.from({ length: 4 }, () => remove(id)));

      expect(answers.every(({ status }) => status === 204 || status === 404)).toBe(true);
      expect((await runs.get(id)).status).toBe(404);
    });

    it('of a workflow: no new runs, and active ones fail', async () => {
      const id = await startRun({ arrived });

      expect((await api.as('admin').del(`/api/v1/workflows/${flowId}`)).status).toBe(204);

      expect(await until(id, 'failed')).toMatchObject({ error: { message: 'workflow deleted' } });
      expect((await runs.start({}, { workflow: flowId })).status).toBe(404);
    });
  });

  describe('POST …/signals/:name', () => {
    it('200: a waiting step receives it, and the payload becomes its output', async () => {
      const id = await startRun({ arrived });

      expect((await signal(id, 'arrived', { payload: { berth: 4 } })).body).toEqual({
        run_id: id,
        signal: 'arrived',
        delivered: true,
      });
      expect(await until(id, 'succeeded')).toMatchObject({ output: { berth: 4 } });
      expect(statusAndCode(await signal(id, 'arrived'))).toEqual({ status: 409, code: 'run_already_ended' });
    });

    it('200: a signal without a waiting step is stored, once for any number of repeats', async () => {
      const steps = { first: { type: 'signal' }, arrived: { ...arrived, depends_on: ['first'] }, then: { ...arrived, depends_on: ['arrived'] } }; // prettier-ignore
      const id = await startRun(steps);

      for (let i = 0; i < 3; i++) {
        expect((await signal(id, 'arrived', { signal_id: 's-1', payload: 1 })).body['delivered']).toBe(false);
      }
      expect((await signal(id, 'first')).body['delivered']).toBe(true);

      const run = await seen(id);
      expect([run.steps['arrived']?.output, run.steps['then']?.status]).toEqual([1, 'waiting']);
    });

    it('404, 413: an unknown run, and a payload over the limit', async () => {
      const id = await startRun({ arrived });

      expect(statusAndCode(await signal('none', 'x'))).toEqual({ status: 404, code: 'run_not_found' });
      expect((await signal(id, 'arrived', { payload: 'x'.repeat(70_000) })).body).toMatchObject({
        status: 413,
        limit_bytes: 65_536,
      });
      expect((await seen(id)).status).toBe('waiting');
    });
  });

  describe('POST …/chat', () => {
    const answer = { type: 'signal', signal: 'chat' };

    it('200: a step that waits for the signal chat receives messages of users, not of agents or the system', async () => {
      const id = await startRun({ answer });

      for (const role of ['agent', 'system']) await runs.postMessage(id, { content: 'which berth?', role });
      const posted = await runs.postMessage(id, { content: 'berth 7' });

      const output = { message_id: posted.body['id'], role: 'user', content: 'berth 7' };
      expect(await until(id, 'succeeded')).toMatchObject({ output });
    });

    it('200: earlier messages are not delivered to a step, and ended runs accept messages', async () => {
      const id = await startRun({ arrived, answer: { ...answer, depends_on: ['arrived'] } });
      await runs.postMessage(id, { content: 'too early' });
      await signal(id, 'arrived');
      expect((await seen(id)).steps['answer']?.status).toBe('waiting');

      await runs.postMessage(id, { content: 'now' });
      expect(await until(id, 'succeeded')).toMatchObject({ output: { content: 'now' } });

      expect((await runs.postMessage(id, { content: 'well done' })).status).toBe(200);
      expect((await runs.chat(id)).items.map(({ content }) => content)).toEqual(['well done', 'now', 'too early']);
    });
  });

  describe('POST …/rerun', () => {
    const flow = {
      a: { type: 'transform', input: { at: '${now()}' }, output_path: 'a' },
      b: { type: 'transform', depends_on: ['a'], input: { n: '${int(input.n)}' } },
      c: { type: 'transform', depends_on: ['b'], input: { n: '${steps.b.output.n}' } },
    };
    const broken = { ...flow, b: { ...flow.b, input: { n: "${int('none')}" } } };

    it('200: from a step on, with the newest definition and the earlier outputs', async () => {
      const id = await startRun(broken, { n: 7 }, 'failed');
      const before = await seen(id);
      await workflow(flow);

      const { body, headers } = await rerun(id, { from_step: 'b' });
      const again = await until(String(body['run_id']), 'succeeded');

      expect(headers['x-trace-id']).toBe(body['run_id']);
      expect(again).toMatchObject({
        rerun_of: id,
        rerun_step: 'b',
        workflow_revision: 2,
        triggered_by: 'bob',
        input: { n: 7 },
        output: { n: 7 },
        metadata: { rerun_of: id, rerun_step: 'b' },
      });
      expect(again.steps['a']?.output).toEqual(before.steps['a']?.output);
      expect(await seen(id)).toEqual(before);
    });

    it('200: without a step, all steps run again; as a dry run if requested', async () => {
      const id = await startRun(flow, { n: 7 }, 'succeeded');

      const { body } = await rerun(id, { dry_run: true });
      const again = await until(String(body['run_id']), 'succeeded');

      expect(again).toMatchObject({ rerun_of: id, dry_run: true, labels: { dry_run: 'true' } });
      expect(again).not.toHaveProperty('rerun_step');
      const back = await rerun(String(body['run_id']));
      expect((await seen(String(back.body['run_id'])))['labels']).not.toHaveProperty('dry_run');
    });

    it('400: an unknown step, a step after a failed one, and a step of an active run', async () => {
      const id = await startRun(broken, { n: 7 }, 'failed');

      expect((await rerun(id, { from_step: 'zz' })).body).toMatchObject({ status: 400, code: 'RUN_NOT_RUNNABLE' });
      expect((await rerun(id, { from_step: 'c' })).body).toMatchObject({
        code: 'RUN_NOT_RUNNABLE',
        error: expect.stringContaining('step b') as string,
      });
      const live = await startRun({ arrived });
      expect((await rerun(live, { from_step: 'arrived' })).body).toMatchObject({ code: 'RUN_NOT_RUNNABLE' });
      expect((await rerun(live)).status).toBe(200);
      expect(statusAndCode(await rerun('none'))).toEqual({ status: 404, code: 'run_not_found' });
    });
  });
});
