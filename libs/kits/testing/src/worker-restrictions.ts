import Redis from 'ioredis';
import { connect, type ConnectionOptions, type NatsConnection } from 'nats';
import { eventually } from './eventually';

/** Connection settings of the worker `demo-1` of a pool that serves `job.demo.*`, and of the services. */
export interface RestrictedWorker {
  nats: ConnectionOptions;
  redisUrl: string;
  services: ConnectionOptions;
}

const forbiddenPublishes = [
  'sys.job.submit',
  'sys.job.cancel',
  'sys.job.dlq',
  'sys.config.changed',
  'sys.workflow.event',
  'sys.audit.export',
  'worker.demo-2.jobs',
  'worker.gpu-1.jobs',
  'job.demo.echo',
  '$JS.API.STREAM.CREATE.MINE',
  '$JS.API.STREAM.DELETE.SVC_JOBS',
  '$JS.API.STREAM.MSG.GET.SVC_JOBS',
  '$JS.API.CONSUMER.DELETE.SVC_JOBS.dur_demo-1__worker_demo-1_jobs',
  '$JS.API.CONSUMER.DURABLE.CREATE.SVC_JOBS.mine',
  '$JS.API.CONSUMER.CREATE.SVC_JOBS.dur_demo-1__worker_demo-1_jobs.worker.demo-2.jobs',
  '$JS.API.CONSUMER.CREATE.SVC_JOBS.mine.worker.gpu-1.jobs',
  '$JS.API.CONSUMER.MSG.NEXT.SVC_JOBS.dur_demo-2__worker_demo-2_jobs',
  '$JS.API.CONSUMER.CREATE.SVC_SYS.mine.sys.job.submit',
];
const forbiddenSubscriptions = [
  '>',
  'sys.>',
  'sys.job.result',
  'sys.job.submit',
  'sys.heartbeat',
  'worker.>',
  'worker.*.jobs',
  'worker.demo-2.jobs',
  'worker.gpu-1.jobs',
  'job.>',
  'job.render',
];
const forbiddenCommands: [string, ...string[]][] = [
  ['get', '{s0}:job:j1'],
  ['get', 'session:user:abc'],
  ['get', 'cfg:system:policy'],
  ['set', 'cfg:system:policy', '{}'],
  ['set', 'ctx:j1', '{}'],
  ['del', 'res:j1'],
  ['keys', '*'],
  ['scan', '0'],
  ['eval', 'return 1', '0'],
  ['fcall', 'x', '0'],
  ['config', 'get', '*'],
  ['acl', 'list'],
  ['acl', 'whoami'],
  ['monitor'],
  ['client', 'list'],
  ['flushall'],
  ['publish', 'x', 'y'],
];

/**
 * Declares the tests that the credentials of a worker give no access beyond its own jobs. @param access read when they run
 * @param options.harmless subjects that it may subscribe to because nothing reaches it there
 */
export function describeWorkerRestrictions(
  access: () => RestrictedWorker,
  { harmless = [] }: { harmless?: readonly string[] } = {},
): void {
  describe('a worker cannot', () => {
    let connection: NatsConnection;
    let redis: Redis;
    beforeAll(async () => {
      connection = await connect(access().nats);
      redis = new Redis(access().redisUrl);
    });
    afterAll(async () => {
      await connection.close();
      redis.disconnect();
    });

    it.each(forbiddenPublishes)('publish on %s', async (subject) => {
      await expect(connection.request(subject, '', { timeout: 5_000 })).rejects.toThrow('Permissions Violation');
    });

    it.each(forbiddenSubscriptions.filter((subject) => !harmless.includes(subject)))(
      'subscribe to %s',
      async (subject) => {
        const errors: unknown[] = [];
        connection.subscribe(subject, { callback: (error) => void errors.push(error) });

        await eventually(() => expect(errors).toMatchObject([{ code: 'PERMISSIONS_VIOLATION' }]), { withinMs: 4_000 });
      },
    );

    it('receive replies to the services', async () => {
      const seen: unknown[] = [];
      connection.subscribe('_INBOX.>', { callback: (error, message) => void seen.push(error ?? message.subject) });
      await connection.flush();
      const service = await connect(access().services);
      service.subscribe('sys.test', { callback: (_, message) => void message.respond() });
      await service.request('sys.test');
      await service.close();

      await connection.flush();

      expect(seen).toEqual([]);
    });

    it.each(forbiddenCommands)('run %s %s in Redis', async (command, ...args) => {
      await expect(redis.call(command, ...args)).rejects.toThrow('NOPERM');
    });
  });
}
