import { queues } from '@svc/queues.config';
import { openStore, type Store, type UserRecord } from '@svc/store';
import { emptyRedis, startRedis, type TestServer } from '@svc/testing';
import { Redis } from 'ioredis';
import { getSessionId, openSessions, resolveSession, type NewSession, type Sessions } from './sessions';

const MINUTE = 60_000;

describe('sessions', () => {
  let server: TestServer;
  let redis: Redis;
  let store: Store;
  let nowMs = 0;
  let notices: ((id: string | undefined) => void)[] = [];
  const ended: string[] = [];

  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url);
    store = openStore(redis, queues, { metaSec: 60, dataSec: 60 });
  });
  beforeEach(async () => {
    await emptyRedis(server.url);
    [nowMs, notices] = [Date.UTC(2026, 0, 1), []];
    ended.length = 0;
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  const open = (): Sessions =>
    openSessions(store.sessions, {
      ttlMs: 60 * MINUTE,
      idleMs: 20 * MINUTE,
      nowMs: () => nowMs,
      onEnded: (id) => void ended.push(id),
      onChange: (listener) => void notices.push(listener),
    });
  const ofKey: NewSession = {
    ...{ kind: 'api_key', keyDigest: 'd1', tenant: 'acme', method: 'api_key', address: '::1' },
  };
  const user: UserRecord = {
    ...{ id: 'u1', tenant: 'acme', username: 'ann', role: 'viewer', source: 'user', password: 'hash' },
    ...{ created_at: '', updated_at: '' },
  };
  const act = { event_type: 'identity.change', action: 'test', severity: 'INFO', identity: 'test' } as const;
  const writeUser = (over: Partial<UserRecord>, expected: number) =>
    store.users.write({ user: { ...user, ...over }, expected, act });
  const ofUser = (generation: number): NewSession => ({
    ...{ kind: 'user', userId: 'u1', generation, tenant: 'acme', method: 'password', address: '::1' },
  });

  it('end at their time, however much they are used', async () => {
    const sessions = open();
    const { token, expiresAtMs } = await sessions.create(ofKey);
    for (let i = 0; i < 11; i++) {
      nowMs += 5 * MINUTE;
      expect(await sessions.find(token)).toBeDefined();
    }

    nowMs = expiresAtMs;
    expect(await sessions.find(token)).toBeUndefined();
  });

  it('end after a time without use', async () => {
    const sessions = open();
    const { token } = await sessions.create(ofKey);
    const { token: unused } = await sessions.create(ofKey);
    nowMs += 15 * MINUTE;
    await sessions.find(token);
    nowMs += 15 * MINUTE;

    expect(await sessions.find(token)).toBeDefined();
    expect(await sessions.find(unused)).toBeUndefined();
    expect(await sessions.list({ kind: 'api_key', keyDigest: 'd1' })).toHaveLength(1);
  });

  it('of a user have the role of now, and end with the generation of the user', async () => {
    const sessions = open();
    await writeUser({}, 0);
    const { token } = await sessions.create(ofUser(0));
    await writeUser({ role: 'operator' }, 1);

    const session = await sessions.find(token);
    expect(session && (await resolveSession(session, []))).toMatchObject({
      ...{ principalId: 'ann', role: 'operator', submitter: 'user:u1', userId: 'u1', source: 'session' },
    });
    expect(JSON.stringify(session)).not.toContain('hash');
    await writeUser({ role: 'operator', disabled: true }, 2);
    nowMs += 500;
    expect(await sessions.find(token)).toBeUndefined();
    expect(await redis.keys('session:*')).toEqual([]);
  });

  it('cost one read in half a second, and none is remembered after a notice', async () => {
    const sessions = open();
    await writeUser({}, 0);
    const { token } = await sessions.create(ofUser(0));
    const read = jest.spyOn(store.sessions, 'read');

    await Promise.all(Array.from({ length: 50 }, () => sessions.find(token)));
    expect(read).toHaveBeenCalledTimes(1);
    await writeUser({ password: 'other' }, 1);
    for (const notice of notices) notice('user:u1');
    expect(await sessions.find(token)).toBeUndefined();
    read.mockRestore();
  });

  it('that ended elsewhere without a notice are refused within half a second', async () => {
    const [here, there] = [open(), open()];
    const { token } = await here.create(ofKey);
    await here.find(token);
    await there.end(token);

    nowMs += 500;
    expect(await here.find(token)).toBeUndefined();
    expect(ended).toEqual([getSessionId(token)]);
  });

  it('of one owner are at most a hundred', async () => {
    const sessions = open();
    const first = await sessions.create(ofKey);
    for (let i = 0; i < 100; i++) {
      nowMs += 1;
      await sessions.create(ofKey);
    }

    expect(await sessions.find(first.token)).toBeUndefined();
    expect(await sessions.list({ kind: 'api_key', keyDigest: 'd1' })).toHaveLength(100);
  });

  it('are ended only for their owner', async () => {
    const sessions = open();
    const { id, token } = await sessions.create(ofKey);

    expect(await sessions.endSome({ kind: 'api_key', keyDigest: 'd2' }, [id])).toBe(0);
    expect(await sessions.find(token)).toBeDefined();
    expect(await sessions.endSome({ kind: 'api_key', keyDigest: 'd1' }, [id])).toBe(1);
    expect(await sessions.find(token)).toBeUndefined();
  });
});
