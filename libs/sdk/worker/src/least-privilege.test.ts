import {
  accepts,
  describeWorkerRestrictions,
  endChild,
  eventually,
  freePort,
  requireProgram,
  spawnLeashed,
} from '@svc/testing';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connect } from 'nats';
import { createWorker, type Worker } from './index';
import { openScheduler } from './scheduler.fixture';

const page = readFileSync(resolve(__dirname, '../../../../docs/security/trust.md'), 'utf8');
/** The first code block of this language. */
function example(kind: 'conf' | 'acl'): string {
  const text = page.split(`\n\`\`\`${kind}\n`)[1]?.split('```')[0];
  if (text === undefined) throw new Error(`the page has no example ${kind}`);
  return text;
}

const passwords = { SVC_NATS_PASSWORD: 'svc-pw', DEMO_1_NATS_PASSWORD: 'demo-pw' };
const services = { user: 'svc', pass: passwords.SVC_NATS_PASSWORD };
const ownUser = { user: 'demo-1', pass: passwords.DEMO_1_NATS_PASSWORD };

describe('the example permissions of a worker in docs/security/trust.md', () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-test-trust-'));
  const children: ChildProcess[] = [];
  let natsUrl = '';
  let redisUrl: (user: 'svc' | 'workers') => string;
  let scheduler: Awaited<ReturnType<typeof openScheduler>>;

  const launch = async (program: string, port: number, args: string[]) => {
    children.push(
      spawnLeashed(requireProgram(program), args, { env: { ...process.env, ...passwords, NATS_DATA: dir } }),
    );
    await eventually(() => accepts(port), { withinMs: 20_000 });
  };

  beforeAll(async () => {
    const [natsPort, redisPort] = [await freePort(), await freePort()];
    writeFileSync(join(dir, 'nats.conf'), example('conf'));
    writeFileSync(join(dir, 'users.acl'), example('acl'));
    await launch('nats-server', natsPort, ['-c', join(dir, 'nats.conf'), '-a', '127.0.0.1', '-p', String(natsPort)]);
    const storage = ['--dir', dir, '--save', '', '--aclfile', join(dir, 'users.acl')];
    await launch('redis-server', redisPort, ['--bind', '127.0.0.1', '--port', String(redisPort), ...storage]);
    natsUrl = `127.0.0.1:${natsPort}`;
    redisUrl = (user) => `redis://${user}:${user.toUpperCase()}_REDIS_PASSWORD@127.0.0.1:${redisPort}`;
    scheduler = await openScheduler(natsUrl, redisUrl('svc'), eventually, services);
  }, 60_000);
  afterAll(async () => {
    await scheduler?.close();
    await Promise.all(children.map((child) => endChild(child)));
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  }, 60_000);

  describe('allow it to', () => {
    const errors: unknown[] = [];
    let worker: Worker;
    beforeAll(async () => {
      worker = createWorker({
        id: 'demo-1',
        pool: 'demo',
        topics: {
          'job.demo.echo': async (job) => {
            job.progress(50, 'half way');
            if (job.prompt === 'wait') await new Promise((done) => job.signal.addEventListener('abort', done));
            return { reply: job.prompt, artifact: await job.saveArtifact(Buffer.from('file')) };
          },
        },
        natsUrl,
        nats: ownUser,
        redisUrl: redisUrl('workers'),
        signals: [],
        onError: (error) => errors.push(error),
      });
      await worker.start();
    });
    afterAll(() => worker.stop());
    afterEach(() => expect(errors).toEqual([]));

    const dispatch = async (id: string, prompt: string, to?: string) => {
      await scheduler.redis.set(`ctx:${id}`, JSON.stringify({ prompt }));
      const request = { job_id: id, context_ptr: `redis://ctx:${id}` };
      await scheduler.dispatch(request, to === undefined ? {} : { to });
    };

    it('announce itself', async () => {
      await eventually(() => expect(scheduler.of('heartbeat')).not.toEqual([]));
      expect(scheduler.of('handshake')).not.toEqual([]);
    });

    it.each([
      ['its own subject', 'j1', 'demo-1'],
      ['its topic', 'j2', undefined],
    ])('complete and acknowledge a job of %s, with progress, result and artifact', async (_, id, to) => {
      await dispatch(id, 'hello', to);

      expect(await scheduler.results(id)).toMatchObject([{ status: 5, result_ptr: `redis://res:${id}` }]);
      const progress = () => scheduler.of('job_progress').filter(({ job_id }) => job_id === id);
      await eventually(() => expect(progress()).toMatchObject([{ percent: 50 }]));
      const result = JSON.parse((await scheduler.redis.get(`res:${id}`)) ?? '') as { artifact: string };
      expect(await scheduler.redis.get(result.artifact.replace('redis://', ''))).toBe('file');
      for (const durable of ['dur_demo-1__worker_demo-1_jobs', 'dur_job_demo_echo__job_demo_echo']) {
        await eventually(async () => expect(await scheduler.open(durable)).toBe(0));
      }
    });

    it('receive a cancel', async () => {
      await dispatch('j3', 'wait', 'demo-1');
      await eventually(() => expect(scheduler.of('job_progress').map(({ job_id }) => job_id)).toContain('j3'));

      scheduler.cancel('j3');

      expect(await scheduler.results('j3')).toMatchObject([{ status: 7 }]);
    });
  });

  describe('restrict it:', () => {
    describeWorkerRestrictions(() => ({
      nats: { servers: natsUrl, ...ownUser },
      redisUrl: redisUrl('workers'),
      services: { servers: natsUrl, ...services },
    }));

    it('a worker receives the replies to its own requests', async () => {
      const connection = await connect({ servers: natsUrl, ...ownUser });

      await expect(connection.request('$JS.API.INFO', '')).resolves.toBeDefined();

      await connection.close();
    });
  });
});
