import { verifyWorkerToken } from '@svc/identity';
import { keys } from '@svc/store';
import { WorkerTrustRepository } from '@svc/worker-trust';
import { generateKeyPairSync } from 'node:crypto';
import { useApi } from '../api.testing';
import { statusAndCode } from '../caller.testing';

const path = '/api/v1/workers/credentials';
const generatePublicKey = (namedCurve: string) =>
  generateKeyPairSync('ec', { namedCurve }).publicKey.export({ type: 'spki', format: 'pem' }).toString();
const secretKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const [publicKey, otherKey] = [generatePublicKey('P-256'), generatePublicKey('P-384')];

describe('GET /api/v1/workers/grant-keys', () => {
  const { privateKey, publicKey: grantKey } = generateKeyPairSync('ed25519');
  const secret = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const api = useApi({ env: { SVC_GRANT_SIGNING_KEY: secret } });

  it('200: the public key of the grants of dispatches, and nothing of the private one', async () => {
    const { status, body } = await api.as('viewer').get('/api/v1/workers/grant-keys');

    const pem = grantKey.export({ type: 'spki', format: 'pem' }).toString();
    expect([status, body]).toEqual([
      200,
      { items: [{ key_id: expect.stringMatching(/^[0-9a-f]{16}$/), public_key: pem }] },
    ]);
    expect(JSON.stringify(body)).not.toContain('PRIVATE');
  });
});

describe('worker credentials', () => {
  // Neither tenant of the tests is the default tenant.
  const api = useApi({ env: { TENANT_ID: 'house' } });
  beforeEach(() => api.license('enterprise'));
  const create = (body: object, as = api.as('admin')) => as.post(path, { allowed_pools: ['demo'], ...body });
  const listed = async (as = api.as('admin')) => (await as.get(path)).body['items'] as Record<string, unknown>[];
  const stored = async (id: string) => JSON.parse((await api.store.redis.hget(keys.workerCredentials(), id)) ?? '{}');

  it('201: the token is shown once and stored as an argon2id hash only', async () => {
    const { status, body } = await create({ worker_id: 'w1', allowed_pools: ['gpu', 'demo', 'demo'], agent_id: 'a1' });

    const { token, ...view } = body as { token: string };
    expect(status).toBe(201);
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(view).toEqual({
      worker_id: 'w1',
      tenant_id: 'acme',
      allowed_pools: ['demo', 'gpu'],
      allowed_topics: ['job.>'],
      public_keys: [],
      agent_id: 'a1',
      created_by: 'ann',
      created_at: expect.any(String),
    });
    const [, hash = ''] = ((await api.store.redis.hget(keys.workerTokens(), 'w1')) ?? '').split(' ');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=65536,t=3,p=1\$/);
    expect(await verifyWorkerToken(hash, token)).toBe(true);
    expect(await listed()).toEqual([view]);
  });

  it('200: creating it again replaces the token and the bindings, and makes a revoked one valid', async () => {
    const before = await create({ worker_id: 'w1' });
    await api.as('admin').del(`${path}/w1`);

    const after = await create({ worker_id: 'w1', allowed_pools: [], allowed_topics: ['job.default'] });

    expect(after.status).toBe(200);
    expect(after.body['token']).not.toBe(before.body['token']);
    expect(await listed()).toMatchObject([{ allowed_pools: [], allowed_topics: ['job.default'] }]);
    expect((await listed())[0]).not.toHaveProperty('revoked_at');
  });

  it('200: other fields can change while the worker keeps its token; 404: without a valid one', async () => {
    const { body } = await create({ worker_id: 'w1' });
    const before = await api.store.redis.hget(keys.workerTokens(), 'w1');

    const kept = await create({ worker_id: 'w1', allowed_pools: ['gpu'], public_keys: [publicKey], keep_token: true });

    expect(kept.status).toBe(200);
    expect(kept.body).not.toHaveProperty('token');
    expect(await listed()).toMatchObject([{ allowed_pools: ['gpu'], public_keys: [publicKey] }]);
    expect(await api.store.redis.hget(keys.workerTokens(), 'w1')).toBe(before);
    expect(body['token']).toBeDefined();
    await api.as('admin').del(`${path}/w1`);
    for (const worker_id of ['w1', 'w2'])
      expect(statusAndCode(await create({ worker_id, keep_token: true }))).toEqual({ status: 404, code: 'WORKER_CRED_NOT_FOUND' });
  }); // prettier-ignore

  it('204: revoked credentials stay listed; revoking again changes nothing', async () => {
    await create({ worker_id: 'w1' });

    expect((await api.as('admin').del(`${path}/w1`)).status).toBe(204);
    const [first] = await listed();
    expect((await api.as('admin').del(`${path}/w1`)).status).toBe(204);

    expect(first).toMatchObject({ worker_id: 'w1', revoked_at: expect.any(String) });
    expect(await listed()).toEqual([first]);
  });

  it('every change is announced and numbered, so that replicas apply it within a second', async () => {
    await create({ worker_id: 'w1' });
    await create({ worker_id: 'w2' });
    await api.as('admin').del(`${path}/w1`);

    expect(await api.store.redis.get(keys.workerTrustVersion())).toBe('3');
    expect(await api.store.redis.zrange(keys.workerTrustChanges(), '0', '-1', 'WITHSCORES')).toEqual([
      'w2',
      '2',
      'w1',
      '3',
    ]);
    expect(await api.packets()).toEqual(['sys.config.changed', 'sys.config.changed', 'sys.config.changed']);
  });

  it('a worker id belongs to one tenant; others neither see, replace nor revoke its credential', async () => {
    await create({ worker_id: 'w1' });
    const before = await stored('w1');

    const taken = await create({ worker_id: 'w1' }, api.as('other'));
    const revoked = await api.as('other').del(`${path}/w1`);

    expect(statusAndCode(taken)).toEqual({ status: 400, code: 'WORKER_CRED_BINDING_INVALID' });
    expect(statusAndCode(revoked)).toEqual({ status: 404, code: 'WORKER_CRED_NOT_FOUND' });
    expect(await listed(api.as('other'))).toEqual([]);
    expect(await stored('w1')).toEqual(before);
    expect(await listed(api.as('everywhere'))).toMatchObject([{ worker_id: 'w1', tenant_id: 'acme' }]);
  });

  it('503: a session cannot be revoked where workers get none', async () => {
    await create({ worker_id: 'w1' });

    expect((await api.as('admin').post('/api/v1/workers/w1/revoke-session')).status).toBe(503);
  });

  it.each<[string, object, string]>([
    ['a worker id that no subject can hold', { worker_id: 'a.b' }, 'worker_id'],
    ['a worker id of services', { worker_id: 'gateway-1' }, 'worker_id'],
    ['a topic that is none', { worker_id: 'w1', allowed_topics: ['sys.>'] }, 'allowed_topics'],
    ['a key that is none', { worker_id: 'w1', public_keys: ['x'] }, 'public_keys'],
    ['a key of another curve', { worker_id: 'w1', public_keys: [otherKey] }, 'public_keys'],
    ['too many pools', { worker_id: 'w1', allowed_pools: Array.from({ length: 101 }, () => 'demo') }, 'allowed_pools'],
  ])('400: %s', async (_, body, field) => {
    const answer = await create(body);

    expect(statusAndCode(answer)).toEqual({ status: 400, code: 'WORKER_CRED_BINDING_INVALID' });
    expect(JSON.stringify(answer.body['violations'])).toContain(field);
  });

  it('404: a pool that does not exist', async () => {
    expect(statusAndCode(await create({ worker_id: 'w1', allowed_pools: ['none'] }))).toEqual({
      status: 404,
      code: 'POOL_NOT_FOUND',
    });
  });

  it('404: a topic that does not exist, where the topics are registered', async () => {
    const answer = await create({ worker_id: 'w1', allowed_topics: ['job.not.registered'] });

    expect(statusAndCode(answer)).toEqual({ status: 404, code: 'TOPIC_NOT_FOUND' });
  });

  it('403: more valid credentials than the plan allows; revoked ones do not count', async () => {
    api.license('community');
    for (const worker_id of ['w1', 'w2', 'w3']) expect((await create({ worker_id })).status).toBe(201);

    const full = await create({ worker_id: 'w4' });
    await api.as('admin').del(`${path}/w1`);

    expect(full).toMatchObject({ status: 403, body: { limit: 'max_workers', current: 3, allowed: 3 } });
    expect((await create({ worker_id: 'w4' })).status).toBe(201);
  });
});

describe('the sessions of workers', () => {
  const api = useApi({ env: { TENANT_ID: 'house', SVC_PACKET_SIGNING_KEY: secretKey } });
  const revoke = (as = api.as('admin'), id = 'w1') => as.post(`/api/v1/workers/${id}/revoke-session`);
  const trust = () => new WorkerTrustRepository(api.store.redis);
  const session = async () => (await trust().records(['w1'])).get('w1')?.session;

  it('200: a session is revoked for its own tenant only, and again without effect', async () => {
    await api.as('admin').post(path, { worker_id: 'w1', allowed_pools: ['demo'] });
    const nowMs = Date.now();
    await trust().issueSession({
      ...{ workerId: 'w1', jti: 'j1', nowMs, expiresAtMs: nowMs + 60_000, previousUntilMs: nowMs },
    });

    expect(statusAndCode(await revoke(api.as('other')))).toEqual({ status: 404, code: 'WORKER_NOT_FOUND' });
    expect(await session()).not.toHaveProperty('revoked');
    for (const answer of [await revoke(), await revoke()])
      expect(answer).toMatchObject({ status: 200, body: { worker_id: 'w1', tenant: 'acme', revoked: true } });

    expect(await session()).toMatchObject({ jti: 'j1', revoked: true });
    expect(statusAndCode(await revoke(api.as('admin'), 'w2'))).toEqual({ status: 404, code: 'WORKER_NOT_FOUND' });
  });
});
