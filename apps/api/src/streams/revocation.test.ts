import { decodePacket, grpcServices } from '@svc/contract';
import { serviceDefinition } from '@svc/grpc';
import { getSessionId, openSessions, type Sessions } from '@svc/identity';
import { changeUser } from '@svc/users';
import { apiEnv, Health, readEnv, silentLogger, systemClock } from '@svc/runtime';
import { eventually } from '@svc/testing';
import { Client, credentials, Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { io } from 'socket.io-client';
import { useApi } from '../api.testing';
import { startGrpcServer, type ApiGrpcServer } from '../grpc/server';
import { caller } from '../caller.testing';
import { identities, keySession } from '../identities.testing';
import { openCredentialNotices } from '../open-credential-notices';
import { people, withUsers } from '../routes/users/people.testing';
import { connectStream, received, startStreams, type StreamServer } from './streams.testing';

const hourMs = 3_600_000;

describe('streams of a credential that has ended, long before their regular check', () => {
  const keyFile = join(tmpdir(), `svc-revocation-keys-${process.pid}-${randomBytes(4).toString('hex')}.json`);
  const guest = { ...identities.admin, key: 'key-of-the-guest-0000000002', principal_id: 'guest' };
  writeFileSync(keyFile, JSON.stringify([guest]));
  const api = useApi({
    env: { ...withUsers.env, SVC_API_KEYS_PATH: keyFile, GATEWAY_WS_REVALIDATION_INTERVAL: '1h' },
  });
  const clock = systemClock();
  let streams: StreamServer;
  let rpc: ApiGrpcServer;
  let client: Client;
  beforeAll(async () => {
    streams = await startStreams(api, { env: { wsRevalidationMs: hourMs } });
    const { values: env } = readEnv(apiEnv, { GATEWAY_GRPC_ADDR: '127.0.0.1:0' });
    const intervals = { readEveryMs: hourMs, recheckEveryMs: hourMs };
    const boot = { env, log: silentLogger, health: new Health({ clock }), clock };
    rpc = await startGrpcServer(boot, api.ctx, api.options, intervals);
    client = new Client(`127.0.0.1:${rpc.port}`, credentials.createInsecure());
  });
  afterAll(async () => {
    client.close();
    await rpc.close();
    await streams.stop();
  });
  const all = () => `${streams.url}/api/v1/stream`;
  const signIn = async (sessions: Sessions, { key, tenant } = identities.admin) =>
    (await sessions.create(keySession(key, tenant))).token;

  /** How a stream ends. */
  interface Opened {
    ended: Promise<unknown>;
  }

  /** Opens a stream of each kind. */
  async function openAll(key: string, tenant = 'acme'): Promise<Opened[]> {
    const id = await api.given.job({ tenant, state: 'RUNNING' });
    const socket = await connectStream(all(), { key });
    const ofJob = await connectStream(`${streams.url}/api/v1/jobs/${id}/stream`, { key });
    return [
      { ended: socket.closed },
      { ended: ofJob.closed },
      await openSocketIo(key),
      await openEvents(`${api.url}/api/v1/jobs/${id}/events`, key),
      await watch(id, key),
    ];
  }

  async function openSocketIo(key: string): Promise<Opened> {
    const options = { path: '/api/v1/socketio', transports: ['websocket'], forceNew: true, reconnection: false };
    const socket = io(streams.url, { ...options, extraHeaders: { 'X-API-Key': key } });
    const ended = new Promise((resolve) => socket.once('closing', ({ reason }) => resolve(reason)));
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('connect_error', reject);
    });
    expect(await socket.emitWithAck('subscribe', {})).toEqual({ ok: true });
    return { ended };
  }

  async function openEvents(url: string, key: string): Promise<Opened> {
    const response = await fetch(url, { headers: { 'X-API-Key': key } });
    expect(response.status).toBe(200);
    const ended = response.text().then((text) => (text.includes('event: end') ? 'the job has ended' : 'closed'));
    return { ended };
  }

  async function watch(jobId: string, key: string): Promise<Opened> {
    const method = serviceDefinition(grpcServices.gateway)['WatchJob'];
    if (!method) throw new Error('not started');
    const metadata = new Metadata();
    metadata.set('x-api-key', key);
    const call = client.makeServerStreamRequest<object, object>(
      method.path,
      method.requestSerialize,
      method.responseDeserialize as (bytes: Buffer) => object,
      { job_id: jobId },
      metadata,
    );
    const ended = new Promise((resolve) => {
      call.on('end', () => resolve('OK'));
      call.on('error', (error: ServiceError) => resolve(status[error.code]));
    });
    await new Promise((resolve) => call.once('data', resolve));
    call.on('data', () => undefined);
    return { ended };
  }

  const ends = [
    [1008, 'revalidation_revoked'],
    [1008, 'revalidation_revoked'],
    'revalidation_revoked',
    'closed',
    'UNAUTHENTICATED',
  ];

  it('a session that is signed out: its streams of every kind end, and those of its key stay', async () => {
    const token = await signIn(api.sessions);
    const own = await connectStream(all(), { who: 'admin' });
    const open = await openAll(token);

    await api.sessions.end(token);

    expect(await Promise.all(open.map(({ ended }) => ended))).toEqual(ends);
    await received(api, own);
    own.socket.close();
  });

  it('a session that is signed out at another gateway', async () => {
    const other = openCredentialNotices({ clock, log: silentLogger }, { bus: api.bus, senderId: 'gateway-2' });
    const sessions = openSessions(api.store.sessions, {
      ttlMs: 600_000,
      idleMs: 600_000,
      nowMs: () => clock.nowMs(),
      onEnded: other.announce,
    });
    const token = await signIn(sessions);
    const { closed } = await connectStream(all(), { key: token });

    await sessions.end(token);

    expect(await closed).toEqual([1008, 'revalidation_revoked']);
    const { details } = await noticed(getSessionId(token));
    expect(JSON.stringify(details)).not.toContain(token);
  });

  it('a key that is removed from the key file, with its sessions', async () => {
    const session = await connectStream(all(), { key: await signIn(api.sessions, guest) });
    const { closed } = await connectStream(all(), { key: guest.key });
    const own = await connectStream(all(), { who: 'admin' });

    writeFileSync(keyFile, '[]');

    expect(await Promise.all([closed, session.closed])).toEqual([
      [1008, 'revalidation_revoked'],
      [1008, 'revalidation_revoked'],
    ]);
    await received(api, own);
    own.socket.close();
  });

  it('a managed key that is revoked at another gateway, of which no notice arrives, with its sessions', async () => {
    const { body } = await caller(api.url, { 'X-API-Key': identities.admin.key }).post('/api/v1/auth/keys', {
      ...{ name: 'guest', scopes: ['admin'] },
    });
    const key = String(body['secret']);
    const session = await connectStream(all(), {
      key: await signIn(api.sessions, { ...identities.admin, key } as never),
    });
    const open = await openAll(key);
    const own = await connectStream(all(), { who: 'admin' });

    await api.store.apiKeys.revoke('acme', (body['key'] as { id: string }).id, new Date().toISOString());

    expect(await session.closed).toEqual([1008, 'revalidation_revoked']);
    expect(await Promise.all(open.map(({ ended }) => ended))).toEqual(ends);
    await received(api, own);
    own.socket.close();
  });

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['at this gateway', (id) => api.as('admin').del(`/api/v1/users/${id}`)],
    [
      'at another gateway',
      async (id) => {
        const { announce } = openCredentialNotices({ clock, log: silentLogger }, { bus: api.bus, senderId: 'gateway-2' });
        const stored = await api.store.users.get(id);
        if (!stored) throw new Error('no user');
        const act = { event_type: 'identity.change', action: 'user.disabled', severity: 'MEDIUM' } as const;
        await changeUser({ store: api.store, announce }, stored, ({ user }) => ({ user: { ...user, disabled: true }, act }));
      },
    ],
  ])('a user who is disabled %s: the streams of their sessions of every kind', async (_, disable) => {
    const { create, signIn: enter } = people(api);
    // A tenant keeps one administrator.
    await create({ username: 'Bob', role: 'admin' });
    const id = await create({ role: 'admin' });
    const open = await openAll(await enter());
    const own = await connectStream(all(), { who: 'admin' });

    await disable(id);

    expect(await Promise.all(open.map(({ ended }) => ended))).toEqual(ends);
    await received(api, own);
    own.socket.close();
  }); // prettier-ignore

  it('a tenant that is suspended at another gateway: the streams of its keys and sessions of every kind', async () => {
    const open = await openAll(identities.other.key, 'globex');
    const session = await connectStream(all(), { key: await signIn(api.sessions, identities.other as never) });
    const named = await connectStream(`${all()}?tenant_id=globex`, { who: 'everywhere' });
    const own = await connectStream(all(), { who: 'admin' });

    // The jobs keep running, so that no stream ends because of its job.
    await api.store.tenants.change('globex', {
      ...{ change: 'suspend', maxTenants: 0, fields: { reason: 'unpaid' }, actorTenant: 'acme' },
      act: { event_type: 'tenant.changed', action: 'tenant.suspended', severity: 'HIGH' },
    });

    const endings = [...open, { ended: session.closed }, { ended: named.closed }].map(({ ended }) => ended);
    expect(await Promise.all(endings)).toEqual([
      ...ends.slice(0, -1),
      'PERMISSION_DENIED',
      [1008, 'revalidation_revoked'],
      [1008, 'revalidation_revoked'],
    ]);
    await received(api, own);
    own.socket.close();
  });

  it('a key that expires', async () => {
    const expires_at = new Date(Date.now() + 3_000).toISOString();
    writeFileSync(keyFile, JSON.stringify([{ ...guest, expires_at }]));

    const { closed } = await eventually(() => connectStream(all(), { key: guest.key }));

    expect(await closed).toEqual([1008, 'revalidation_revoked']);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expires_at));
  });

  /** The notice of a credential. */
  const noticed = (id: string) =>
    eventually(async () => {
      const found = (await api.published()).flatMap(({ subject, bytes }) => {
        const decoded = decodePacket(bytes);
        if (subject !== 'sys.credential.changed' || decoded.kind !== 'ok' || decoded.packet.kind !== 'alert') return [];
        return decoded.packet.body.details['id'] === id ? [decoded.packet.body] : [];
      });
      if (!found[0]) throw new Error('no notice');
      return found[0];
    });
});
