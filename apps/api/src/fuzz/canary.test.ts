import { encodePacket, endpoints, jobProgressPacket, subjects, type Endpoint } from '@svc/contract';
import { eventually, useServers, startService, type RunningService } from '@svc/testing';
import { createWorker } from '@svc/worker-sdk';
import { Redis } from 'ioredis';
import { connect, type NatsConnection } from 'nats';
import { TOTP } from 'otpauth';
import { caller, type HttpAnswer } from '../caller.testing';
import { canaries, leaks } from './canaries.testing';
import { getFields } from './requests.testing';
import { closeConnections, exchange, send } from './wire-client.testing';

jest.setTimeout(60_000);

/** Places whose text belongs to the sender's tenant, and so may be shown to its users and workers. */
const content = /^(job|worker|body|query|path|header (idempotency|traceparent|request))/;
/** Intended places of a text, besides responses to its own tenant. Any other place is a leak. */
const allowed: readonly { where: RegExp; place: RegExp; why: string }[] = [
  { where: /^log$/, place: /^header request$/, why: 'a caller finds its requests in the log by the id it gave them' },
  { where: /^bus worker\.|^bus job\./, place: content, why: 'a worker receives its job' },
  {
    where: /^bus sys\.job\.(result|progress|dlq)$|^bus sys\.heartbeat$/,
    place: /^worker/,
    why: 'the worker’s own words, to services',
  },
];

describe('canary secrets', () => {
  const servers = useServers({ streams: 'purge' });
  const secret = canaries();
  const keys = { admin: secret.of('env admin key'), other: secret.of('env other key') };
  const packets: { subject: string; bytes: Uint8Array }[] = [];
  let services: RunningService[] = [];
  let bus: NatsConnection;
  let api: RunningService;

  beforeAll(async () => {
    bus = await connect({ servers: servers.natsUrl });
    bus.subscribe('>', { callback: (_, { subject, data }) => void packets.push({ subject, bytes: data }) });
    const env = {
      SVC_API_KEYS: JSON.stringify([
        { key: keys.admin, tenant: 'acme', role: 'admin', principal_id: 'ann' },
        { key: keys.other, tenant: 'globex', role: 'admin', principal_id: 'gus' },
      ]),
      SVC_USER_AUTH_ENABLED: 'true',
      SVC_ADMIN_PASSWORD: `${secret.of('env admin password')}-1`,
      SVC_USER_SECRET_KEYS: `${secret.of('env user secret key')}-long-enough-to-be-taken`,
      SVC_JWT_HMAC_SECRET: `${secret.of('env jwt secret')}-long-enough-to-be-taken-for-a-secret`,
      SVC_LICENSE_TOKEN: `{"payload": ${secret.of('env license')}`,
      NATS_USERNAME: 'svc',
      NATS_PASSWORD: secret.of('env bus password'),
    };
    services = await Promise.all([startService('api', servers, env), startService('scheduler', servers, env)]);
    api = services[0] ?? fail();
  }, 60_000);
  afterAll(async () => {
    closeConnections();
    await bus.close();
    await Promise.all(services.map((service) => service.stop()));
  }, 30_000);

  const as = (who: keyof typeof keys) => caller(api.url, { 'X-API-Key': keys[who] });

  /** Leaks of the canaries stored so far; expected to be empty. */
  async function found(): Promise<string[]> {
    const places: [string, string | Uint8Array][] = packets.map(({ subject, bytes }) => [`bus ${subject}`, bytes]);
    for (const service of services) {
      places.push(['log', service.output()], ['metrics', await service.metrics()]);
    }
    const status = await as('other').get('/api/v1/status');
    places.push(['status of another tenant', JSON.stringify(status.body)]);
    return [
      ...new Set(
        places.flatMap(([where, bytes]) => leaks(where, bytes, secret.made, (place) => isMeant(where, place))),
      ),
    ];
  }

  const inErrors: string[] = [];
  /** Errors must not repeat input; other responses to its own tenant may. */
  const noteError = (what: string, status: number, text: string) => {
    if (status >= 400) inErrors.push(...leaks(`${status} of ${what}`, text, secret.made));
  };
  const note = (what: string, { status, body }: HttpAnswer) => noteError(what, status, JSON.stringify(body ?? ''));

  it('in credentials of any kind appear in no log, metric, event or response', async () => {
    const jwt = ['{"alg":"HS256"}', `{"sub":"${secret.of('jwt claim')}"}`].map((part) =>
      Buffer.from(part).toString('base64url'),
    );
    const credentials: Record<string, string>[] = [
      { 'X-API-Key': secret.of('header api key') },
      { Authorization: `Bearer ${secret.of('header bearer')}` },
      { Authorization: `Bearer ${jwt.join('.')}.${secret.of('jwt signature')}` },
      { Authorization: `Basic ${Buffer.from(`user:${secret.of('header basic')}`).toString('base64')}` },
      { Authorization: secret.of('header bare authorization') },
      { Cookie: `svc_session=${secret.of('cookie session')}` },
      { 'X-API-Key': keys.admin, 'X-Tenant-ID': secret.of('header tenant') },
      { 'X-API-Key': keys.admin, Authorization: `Bearer ${secret.of('header bearer with a key')}` },
      { 'X-API-Key': keys.admin, 'X-Principal-ID': secret.of('header principal') },
    ];

    for (const headers of credentials) {
      for (const path of ['/api/v1/jobs', '/api/v1/status', '/nowhere', '/admin/queues']) {
        const { status, text } = await send(api.url, { method: 'GET', target: path, headers });
        noteError(`${path} with ${Object.keys(headers).join()}`, status, text);
      }
    }
    await exchange(
      api.url,
      `GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret.of('header of no request')}\0\r\n\r\n`,
    );

    expect(inErrors).toEqual([]);
    expect(await found()).toEqual([]);
  });

  it.each(endpoints.map((endpoint): [string, Endpoint] => [endpoint.id, endpoint]))(
    'in any field of %s appear in no log, metric, event or error',
    async (_id, endpoint) => {
      const { id, method, path, query, body } = endpoint;
      const requests: { what: string; target: string; text?: string; headers?: Record<string, string> }[] = [
        ...(path.match(/:\w+/g) ?? []).map((name) => ({
          what: `path ${name}`,
          target: path.replace(name, secret.of('path parameter')).replace(/:\w+/g, 'x'),
        })),
        ...[...getFields(query), 'access_token'].map((name) => ({
          what: `query ${name}`,
          target: `${path.replace(/:\w+/g, 'x')}?${name}=${secret.of('query')}`,
        })),
        ...['Idempotency-Key', 'X-Request-Id', 'traceparent', 'X-Max-Artifact-Bytes', 'Content-Type'].map((name) => ({
          what: `header ${name}`,
          target: path.replace(/:\w+/g, 'x'),
          headers: { [name]: secret.of(`header ${name === 'X-Request-Id' ? 'request' : name.toLowerCase()}`) },
          text: '{}',
        })),
      ];
      for (const field of getFields(body)) {
        for (const value of [
          secret.of('body text'),
          [secret.of('body list')],
          { a: secret.of('body map') },
          { [secret.of('body key')]: 'a' },
        ]) {
          requests.push({
            what: `body ${field}`,
            target: path.replace(/:\w+/g, 'x'),
            text: JSON.stringify({ prompt: 'x', [field]: value }),
          });
        }
      }
      if (body) {
        const target = path.replace(/:\w+/g, 'x');
        requests.push({ what: 'garbled body', target, text: `{"a": ${secret.of('garbled body')}` });
        requests.push({ what: 'stranger', target, text: JSON.stringify({ stranger: secret.of('unknown field') }) });
      }

      for (const { what, target, text, headers } of requests) {
        const sent = method === 'get' || method === 'delete' ? undefined : text;
        note(`${id}, ${what}`, await as('admin').send(method, target, sent, headers));
      }

      expect(inErrors).toEqual([]);
      expect(await found()).toEqual([]);
    },
  );

  it('in passwords, sessions and second factors appear in no log, metric, event, error or record of the store', async () => {
    const password = `${secret.of('user password')}-1`;
    await as('admin').post('/api/v1/users', { username: 'zoe', password, tenant: 'acme', role: 'viewer' });
    const login = (body: object) => caller(api.url, {}).post('/api/v1/auth/login', { tenant: 'acme', ...body });
    const signedIn = await login({ username: 'zoe', password });
    const token = String(signedIn.body['token']);
    const own = caller(api.url, { Authorization: `Bearer ${token}` });
    const begun = await own.post('/api/v1/auth/totp', { password });
    const totp = String(begun.body['secret']);
    const code = new TOTP({ secret: totp }).generate();
    const confirmed = await own.post('/api/v1/auth/totp/confirm', { code });
    const [recovery = ''] = confirmed.body['recovery_codes'] as string[];
    const failures = [
      await login({ username: 'zoe', password: `${secret.of('wrong password')}-1` }),
      await login({ username: secret.of('password in the wrong field'), password }),
      await login({ username: 'zoe', password, totp: '000000' }),
      await own.post('/api/v1/auth/password', { current_password: password, new_password: secret.of('weak password') }),
    ];

    expect(failures.map(({ status }) => status)).toEqual([401, 401, 401, 400]);
    for (const failure of failures) note('a failed sign-in', failure);
    const generated = [token, totp, recovery].map((text, i) => ({ place: `secret ${i} of the server`, text }));
    const redis = new Redis(servers.redisUrl);
    const names = await redis.keys('*');
    const dumps = await Promise.all(
      names.map(async (name) => (await redis.dumpBuffer(name))?.toString('latin1') ?? ''),
    );
    redis.disconnect();
    const stored = JSON.stringify([names, dumps]);
    const users = secret.made.filter(({ place }) => place.includes('password'));
    expect([inErrors, leaks('store', stored, [...users, ...generated])]).toEqual([[], []]);
    const output = services.map((service) => service.output()).join();
    const bytes = packets.map(({ bytes: packet }) => Buffer.from(packet).toString('latin1')).join();
    expect(leaks('log or bus', output + bytes, generated)).toEqual([]);
    expect(await found()).toEqual([]);
  });

  it('in a job and in reports of its worker reach its own tenant only', async () => {
    const worker = createWorker({
      id: 'w1',
      pool: 'demo',
      natsUrl: servers.natsUrl,
      redisUrl: servers.redisUrl,
      labels: { place: secret.of('worker label') },
      heartbeatMs: 100,
      signals: [],
      onError: () => undefined,
      topics: {
        'job.demo.*': ({ topic, progress }) => {
          progress(5, secret.of('worker progress'));
          if (topic === 'job.demo.archive') throw new Error(secret.of('worker error'));
          return { reply: secret.of('worker result') };
        },
      },
    });
    await worker.start();
    const submit = async (topic: string) => {
      const { body } = await as('admin').post('/api/v1/jobs', {
        prompt: secret.of('job prompt'),
        topic,
        context: { note: secret.of('job context') },
        labels: { team: secret.of('job label') },
        tags: [secret.of('job tag')],
      });
      return String(body['job_id']);
    };
    const until = (id: string, state: string) =>
      eventually(async () => {
        const { body } = await as('admin').get(`/api/v1/jobs/${id}`);
        expect(body['state']).toBe(state);
        return JSON.stringify(body);
      });
    const [good, bad] = [await submit('job.demo.echo'), await submit('job.demo.archive')];
    const details = (await until(good, 'SUCCEEDED')) + (await until(bad, 'FAILED'));
    await worker.stop();

    // Proves that the canaries were stored; otherwise the absence of leaks would prove nothing.
    for (const place of ['job prompt', 'job label', 'worker error', 'worker result']) {
      expect([place, details.includes(secret.of(place))]).toEqual([place, true]);
    }
    for (const id of [good, bad]) {
      const paths = [`jobs/${id}`, `jobs/${id}/decisions`, 'jobs', 'dlq', 'approvals', 'topics', `memory?ptr=redis://ctx:${id}`, `memory?ptr=redis://res:${id}`]; // prettier-ignore
      for (const path of paths) {
        const { body } = await as('other').get(`/api/v1/${path}`);
        expect(leaks(`${path} for another tenant`, JSON.stringify(body ?? ''), secret.made)).toEqual([]);
      }
    }
    expect(await found()).toEqual([]);
  });

  it('in rejected packets appear in no log, metric or alert', async () => {
    const head = { trace_id: '', sender_id: 'x', nowUs: 1, auth_token: secret.of('worker token') };
    const alerts = () => packets.filter(({ subject }) => subject === subjects.alert.name).length;
    const before = alerts();

    const stray = jobProgressPacket(head, { message: secret.of('worker words in the wrong place') });
    bus.publish(subjects.heartbeat.name, encodePacket(stray));
    bus.publish(subjects.jobProgress.name, Buffer.from(`\x0a\xff${secret.of('worker noise')}`));
    bus.publish(subjects.jobProgress.name, encodePacket({ ...stray, kind: 'job_progress' }));

    await eventually(() => expect(alerts()).toBe(before + 3));
    expect(await found()).toEqual([]);
  });

  it('are searched for in places that are not empty', async () => {
    expect(packets.length).toBeGreaterThan(5);
    for (const service of services) {
      expect(service.output()).toMatch(/DEBUG|"debug"/);
      expect(await service.metrics()).toContain('svc_');
    }
  });
});

const isMeant = (where: string, place: string): boolean =>
  allowed.some((one) => one.where.test(where) && one.place.test(place));

const fail = (): never => {
  throw new Error('the gateway did not start');
};
