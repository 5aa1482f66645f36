import { eventually } from '@svc/testing';
import { io, type Socket } from 'socket.io-client';
import { useApi } from '../api.testing';
import { identities, type Who } from '../identities.testing';
import { createRunClient } from '../routes/runs/given-runs.testing';
import { startStreams, type StreamServer } from './streams.testing';

interface Message {
  type: string;
  tenant?: string;
  job_id?: string;
  run_id?: string;
}

describe('Socket.IO streams', () => {
  const api = useApi();
  const open: Socket[] = [];
  let streams: StreamServer;
  beforeAll(async () => {
    streams = await startStreams(api, { options: { allowedOrigins: ['https://app.example'] } });
  });
  afterEach(() => open.splice(0).forEach((socket) => socket.disconnect()));
  afterAll(() => streams.stop());

  async function connect(
    who: Who,
    { url = streams.url, headers = {} }: { url?: string; headers?: Record<string, string> } = {},
  ): Promise<{ socket: Socket; messages: Message[]; subscribe(room: object): Promise<object> }> {
    const socket = io(url, {
      path: '/api/v1/socketio',
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      extraHeaders: { 'X-API-Key': identities[who].key, ...headers },
    });
    open.push(socket);
    const messages: Message[] = [];
    socket.on('event', (message: Message) => void messages.push(message));
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('connect_error', reject);
    });
    const subscribe = async (room: object) => (await socket.emitWithAck('subscribe', room)) as object;
    return { socket, messages, subscribe };
  }

  it('connections need a credential and a listed origin', async () => {
    await expect(connect('admin', { headers: { 'X-API-Key': 'no-key-of-ours' } })).rejects.toThrow();
    await expect(connect('admin', { headers: { Origin: 'https://evil.example' } })).rejects.toThrow();
    await connect('admin', { headers: { Origin: 'https://app.example' } });
  });

  it('a room of a tenant has its jobs only, and the classes that the role may read', async () => {
    const viewer = await connect('viewer');
    const other = await connect('otherUser');
    const everywhere = await connect('everywhere');
    for (const { subscribe } of [viewer, other, everywhere]) expect(await subscribe({})).toEqual({ ok: true });
    expect(await (await connect('clerk')).subscribe({})).toEqual({ ok: true });

    const id = await api.given.job({ state: 'RUNNING' });
    await api.given.job({ tenant: 'globex' });
    api.ctx.events.hub.publish({ class: 'audit', type: 'audit.export', tenant: 'globex', packet: '{"a":1}' });
    api.ctx.events.hub.publish({ class: 'worker', type: 'worker.heartbeat', packet: {} });
    await eventually(() => expect(everywhere.messages).toHaveLength(6));

    expect(viewer.messages.map(({ type, job_id, tenant }) => [type, job_id, tenant])).toEqual([
      ['job.submit', id, 'acme'],
      ['job.progress', id, 'acme'],
      ['job.progress', id, 'acme'],
    ]);
    expect(other.messages.map(({ type, tenant }) => [type, tenant])).toEqual([['job.submit', 'globex']]);
  });

  it('rooms of a job and of a run are checked when they are joined', async () => {
    const id = await api.given.job();
    const runs = createRunClient(api);
    await runs.workflow({ pause: { type: 'delay', delay_sec: 600 } });
    const runId = await runs.run();
    const viewer = await connect('viewer');
    const other = await connect('other');

    expect(await viewer.subscribe({ job_id: id })).toEqual({ ok: true });
    expect(await viewer.subscribe({ run_id: runId })).toEqual({ ok: true });
    expect(await viewer.subscribe({ job_id: 'nothing' })).toEqual({ error: 'job_not_found' });
    expect(await other.subscribe({ job_id: id })).toEqual({ error: 'tenant_access_denied' });
    expect(await other.subscribe({ run_id: runId })).toEqual({ error: 'tenant_access_denied' });
    for (const room of [{ job_id: 5 }, { job_id: '' }, { job_id: id, run_id: runId }, { room: 'acme' }, 'acme', null]) {
      expect(await other.subscribe(room as object)).toEqual({ error: 'invalid_body' });
    }

    await api.given.job();
    await api.store.jobs.move('*', id, 'cancel');
    await eventually(() =>
      expect(viewer.messages.map(({ type }) => type)).toEqual(['job.cancel', 'job.result.cancelled']),
    );
    expect(other.messages).toEqual([]);
  });

  it('a room that was left sends nothing more', async () => {
    const viewer = await connect('viewer');
    await viewer.subscribe({});
    await viewer.socket.emitWithAck('unsubscribe', {});
    const id = await api.given.job();
    await viewer.subscribe({ job_id: id });
    await api.given.job();
    await api.store.jobs.move('*', id, 'cancel');

    await eventually(() => expect(viewer.messages).toHaveLength(2));
    expect(viewer.messages.map(({ job_id }) => job_id)).toEqual([id, id]);
  });

  it('a client that reads nothing is disconnected, and others receive every event', async () => {
    const [reader, stuck] = [await connect('viewer'), await connect('viewer')];
    for (const { subscribe } of [reader, stuck]) await subscribe({});
    pause(stuck.socket);

    const packet = { text: 'x'.repeat(65_536) };
    for (let i = 0; i < 400; i++) {
      api.ctx.events.hub.publish({ class: 'job', type: 'job.progress', tenant: 'acme', packet });
      // As a burst it would exceed the buffer of every client.
      if (i % 20 === 0) await eventually(() => expect(reader.messages.length).toBeGreaterThan(i - 40));
    }

    await eventually(() => expect(reader.messages).toHaveLength(400));
    await eventually(async () =>
      expect(await streams.metric('svc_gateway_ws_slow_client_evictions_total', 'reason="buffer_full"')).toBe(1),
    );
  });

  it('a gateway that stops says so', async () => {
    const stopping = await startStreams(api);
    const { socket } = await connect('admin', { url: stopping.url });
    const closing = new Promise((resolve) => socket.once('closing', resolve));

    await stopping.stop();

    expect(await closing).toEqual({ reason: 'shutdown' });
  });
});

/** Stops reading from the connection below a client. */
function pause({ io: { engine } }: Socket): void {
  const { ws } = engine.transport as unknown as { ws: { pause(): void } };
  ws.pause();
}
