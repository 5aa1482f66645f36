import { createWorker } from '@svc/worker-sdk';
import { eventually } from '@svc/testing';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useApi } from '../apps/api/src/api.testing';
import type { HttpAnswer } from '../apps/api/src/caller.testing';
import { startScheduler } from '../apps/scheduler/src/scheduler.testing';

const limitOfTwo = `
version: '1'
default_decision: allow
rules:
  - id: burst
    decision: deny
    reason: too many
    match: { topics: [job.demo.echo] }
    velocity: { max_requests: 2, window_seconds: 30, key: tenant }
`;

/** Gateway, scheduler and worker on one Redis and one NATS, each service with its own policy kernel. */
describe('a burst of submissions over a velocity limit', () => {
  const api = useApi();
  const stops: (() => unknown)[] = [];
  afterEach(async () => {
    for (const stop of stops.reverse().splice(0)) await stop();
  });

  it('accepted jobs run, and only those over the limit are denied', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'svc-test-velocity-'));
    stops.push(() => rmSync(dir, { recursive: true }));
    const policyPath = join(dir, 'safety.yaml');
    writeFileSync(policyPath, limitOfTwo);
    await api.policy(limitOfTwo);

    // The scheduler starts after the burst, so that the denied requests are in the window at the second evaluation.
    const answers: HttpAnswer[] = [];
    for (let i = 0; i < 5; i += 1) {
      answers.push(await api.as('admin').post('/api/v1/jobs', { topic: 'job.demo.echo', prompt: 'hello' }));
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 403, 403, 403]);

    const { redisUrl, natsUrl } = api.servers;
    const scheduler = await startScheduler({ redisUrl, natsUrl, policyPath, broken: new Set() });
    stops.push(() => scheduler.stop());
    const worker = createWorker({
      ...{ id: 'w1', pool: 'main', topics: { 'job.>': ({ prompt }) => ({ echo: prompt }) } },
      ...{ natsUrl, redisUrl, heartbeatMs: 100, graceMs: 500, signals: [], onError: () => undefined },
    });
    await worker.start();
    stops.push(() => worker.stop());

    const states = () =>
      Promise.all(answers.map(async ({ body }) => (await api.store.jobs.load(String(body['job_id'])))?.state));
    const ended = ['SUCCEEDED', 'SUCCEEDED', 'DENIED', 'DENIED', 'DENIED'];
    await eventually(async () => expect(await states()).toEqual(ended), { withinMs: 15_000 });
  });
});
