import { breakSaving, eventually } from '@svc/testing';
import { useApi } from './api.testing';
import { statusAndCode, type HttpAnswer } from './caller.testing';

const retryAfterSec = ({ headers }: HttpAnswer) => Number(headers['retry-after']);
const unavailable = { status: 503, code: 'store_unavailable' };

describe('a Redis that rejects writes', () => {
  // Admission control would reject first; this test covers errors that it cannot predict.
  const api = useApi({ env: { SVC_ADMISSION_MEMORY_PERCENT: '0' } });
  const set = (name: string, value: string) => api.store.redis.call('CONFIG', 'SET', name, value);
  const submit = () => api.as('user').post('/api/v1/jobs', { prompt: 'hello' });
  const ready = async () => (await api.anonymous.get('/readyz')).body['checks'];

  async function expectRefusal(why: RegExp): Promise<void> {
    const answer = await submit();
    expect(statusAndCode(answer)).toEqual(unavailable);
    expect(retryAfterSec(answer)).toBeGreaterThanOrEqual(1);
    expect(JSON.stringify(answer.body)).not.toMatch(/OOM|MISCONF|NOREPLICAS|maxmemory/);
    expect(await ready()).toEqual({ redis: expect.stringMatching(why), nats: 'ok' });
  }
  const expectRecovery = () =>
    eventually(async () => {
      expect((await submit()).status).toBe(200);
      expect(await ready()).toEqual({ redis: 'ok', nats: 'ok' });
    });

  it('503: its memory is full', async () => {
    await set('maxmemory', '100kb');
    await expectRefusal(/^refuses writes: its memory is full, since \d{4}-/);

    await set('maxmemory', '0');
    await expectRecovery();
  });

  it('503: it cannot save to its disk', async () => {
    await set('save', '3600 1000000');
    const restoreSaving = await breakSaving(api.store.redis);
    await expectRefusal(/^refuses writes: it cannot save to its disk, since \d{4}-/);

    await restoreSaving();
    await set('save', '');
    await expectRecovery();
  });

  it('503: too few replicas are in sync; reads are still served', async () => {
    await set('min-replicas-to-write', '1');

    const answer = await submit();
    expect(statusAndCode(answer)).toEqual(unavailable);
    expect(retryAfterSec(answer)).toBeGreaterThanOrEqual(1);
    expect((await api.as('user').get('/api/v1/jobs')).status).toBe(200);

    await set('min-replicas-to-write', '0');
    await expectRecovery();
  });
});

describe('a Redis or NATS that hangs', () => {
  const api = useApi({ env: { REDIS_READ_TIMEOUT: '500ms' } });
  const submit = () => api.as('user').post('/api/v1/jobs', { prompt: 'hello' });
  const stopped: number[] = [];
  const stop = (pid: number) => {
    stopped.push(pid);
    process.kill(pid, 'SIGSTOP');
  };
  const resume = () => {
    for (const pid of stopped.splice(0)) process.kill(pid, 'SIGCONT');
  };
  // A paused server can neither be emptied nor stopped.
  afterEach(resume);

  it('503: requests get a response while Redis hangs, and succeed after it recovers', async () => {
    const id = await api.given.job();
    stop(api.servers.redis.pid);

    const answers = await Promise.all([submit(), api.as('user').get(`/api/v1/jobs/${id}`), submit()]);
    for (const answer of answers) {
      expect(statusAndCode(answer)).toEqual(unavailable);
      expect(retryAfterSec(answer)).toBeGreaterThanOrEqual(1);
    }
    const { status, body } = await api.anonymous.get('/readyz');
    expect({ status, checks: body['checks'] }).toEqual({
      status: 503,
      checks: { redis: expect.stringMatching(/since \d{4}-/), nats: 'ok' },
    });

    resume();
    await eventually(async () => expect((await submit()).status).toBe(200));
    await eventually(async () => expect((await api.anonymous.get('/readyz')).status).toBe(200));
  });

  it('200: while NATS hangs, jobs are accepted and cancelled, /readyz reports it with its start, and events follow after it recovers', async () => {
    stop(api.servers.nats.pid);

    const { status, body } = await submit();
    expect(status).toBe(200);
    const id = String(body['job_id']);
    const ready = await api.anonymous.get('/readyz');
    expect({ status: ready.status, checks: ready.body['checks'] }).toEqual({
      status: 503,
      checks: { redis: 'ok', nats: expect.stringMatching(/^no answer within \d+ ms, since \d{4}-/) },
    });
    expect((await api.as('admin').post(`/api/v1/jobs/${id}/cancel`)).status).toBe(200);

    resume();
    await eventually(async () => expect((await api.anonymous.get('/readyz')).status).toBe(200));
    await eventually(async () => expect(await api.packets()).toContain('sys.job.cancel'));
  });
});
