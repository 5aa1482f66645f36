import { sha256 } from '@svc/identity';
import { eventually } from '@svc/testing';
import { randomBytes } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { useApi } from '../api.testing';
import { identities, keySession } from '../identities.testing';
import { connectStream, received, startStreams, type StreamServer, type StreamServerOptions } from './streams.testing';

describe('connections of WebSocket streams', () => {
  const api = useApi();
  const started: StreamServer[] = [];
  const start = async (wanted?: StreamServerOptions) => {
    const streams = await startStreams(api, wanted);
    started.push(streams);
    return streams;
  };
  afterEach(() => Promise.all(started.splice(0).map((streams) => streams.stop())));
  const all = ({ url }: StreamServer) => `${url}/api/v1/stream`;

  it('1008: a session that ended without a notice ends its connections with the regular check, and others stay', async () => {
    const { key, tenant } = identities.admin;
    const { token } = await api.sessions.create(keySession(key, tenant));
    const streams = await start({ env: { wsRevalidationMs: 50 } });
    const revoked = await connectStream(all(streams), { key: token });
    const other = await connectStream(all(streams), { who: 'admin' });
    await eventually(async () =>
      expect(await streams.metric('svc_gateway_ws_revalidation_total', 'outcome="ok"')).toBeGreaterThan(2),
    );

    await api.store.redis.del(api.store.keys.session(sha256(token)));

    expect(await revoked.closed).toEqual([1008, 'revalidation_revoked']);
    await received(api, other);
    expect(await streams.metric('svc_gateway_ws_clients_active')).toBe(1);
  });

  it('1011: a client that does not answer pings', async () => {
    const streams = await start({ env: { wsPingIntervalMs: 50, wsPongTimeoutMs: 1_000 } });
    const answering = await connectStream(all(streams), { who: 'admin' });
    const silent = await connectStream(all(streams), { who: 'admin', autoPong: false });

    expect(await silent.closed).toEqual([1011, 'ping_timeout']);
    await received(api, answering);
    expect(await streams.metric('svc_gateway_ws_pong_timeouts_total')).toBe(1);
    expect(await streams.metric('svc_gateway_ws_pongs_received_total')).toBeGreaterThan(0);
  });

  it('1001: a gateway that stops; a client that comes back counts as a reconnection', async () => {
    const streams = await start();
    const first = await connectStream(all(streams), { who: 'admin' });
    first.socket.close();
    await eventually(async () => expect(await streams.metric('svc_gateway_ws_clients_active')).toBe(0));
    const client = await connectStream(all(streams), { who: 'admin' });

    await streams.stop();
    started.length = 0;

    expect(await client.closed).toEqual([1001, 'shutdown']);
    expect(await streams.metric('svc_gateway_ws_reconnections_total')).toBe(1);
    expect(await streams.metric('svc_gateway_ws_connection_duration_seconds_count')).toBe(2);
  });

  it('429: a tenant or address with too many streams, until one is closed', async () => {
    const streams = await start({ caps: { perTenant: 1, perAddress: 2 } });
    const ours = await connectStream(all(streams), { who: 'admin' });
    await connectStream(all(streams), { who: 'other' });
    await expect(connectStream(all(streams), { who: 'admin' })).rejects.toThrow('429');
    await expect(connectStream(all(streams), { who: 'everywhere' })).rejects.toThrow('429');

    ours.socket.close();

    await eventually(() => connectStream(all(streams), { who: 'boss' }));
  });

  it('a client that reads nothing is disconnected, and others receive every event', async () => {
    // On a slow machine too, the buffer is full before the write times out.
    const streams = await start({ env: { wsWriteTimeoutMs: 60_000 } });
    const reader = await connectStream(all(streams), { who: 'admin' });
    const stuck = await connectStream(all(streams), { who: 'admin' });
    stuck.socket.pause();

    const packet = { text: 'x'.repeat(65_536) };
    for (let i = 0; i < 400; i++) {
      api.ctx.events.hub.publish({ class: 'job', type: 'job.progress', tenant: 'acme', packet });
      // As a burst it would exceed the buffer of every client.
      if (i % 20 === 0) await eventually(() => expect(reader.packets.length).toBeGreaterThan(i - 40));
    }

    await eventually(() => expect(reader.packets).toHaveLength(400));
    await eventually(async () => expect(await streams.metric('svc_gateway_ws_clients_active')).toBe(1));
    const evictions = await streams.metric('svc_gateway_ws_slow_client_evictions_total', 'reason="buffer_full"');
    expect(evictions).toBe(1);
  });

  it('500 clients that read nothing are disconnected, and another receives every event', async () => {
    const streams = await start({ caps: { perTenant: 1_000, perAddress: 1_000 } });
    const reader = await connectStream(all(streams), { who: 'admin' });
    const slow = Array.from({ length: 500 }, () => new StuckSocket());
    for (const socket of slow) streams.server.emit('upgrade', upgradeRequest(socket), socket, Buffer.alloc(0));
    await eventually(async () => expect(await streams.metric('svc_gateway_ws_clients_active')).toBe(501));

    for (let i = 0; i < 300; i++) {
      api.ctx.events.hub.publish({ class: 'job', type: 'job.progress', tenant: 'acme', packet: { i } });
      if (i % 50 === 49) await received(api, reader);
    }

    expect(reader.packets).toEqual(Array.from({ length: 300 }, (_, i) => ({ i })));
    await eventually(async () => expect(await streams.metric('svc_gateway_ws_clients_active')).toBe(1));
    expect(slow.every(({ destroyed }) => destroyed)).toBe(true);
    expect(await streams.metric('svc_gateway_ws_packets_dropped_total')).toBeGreaterThan(500);
  });
});

/** A connection whose kernel buffer is full: nothing that is written to it leaves. */
class StuckSocket extends Socket {
  override _write(_chunk: unknown, _encoding: string, _done: () => void): void {
    return undefined;
  }
  override _writev(_chunks: unknown, _done: () => void): void {
    return undefined;
  }
}

function upgradeRequest(socket: Socket): IncomingMessage {
  const req = new IncomingMessage(socket);
  const headers = {
    host: '127.0.0.1',
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
    'x-api-key': identities.admin.key,
  };
  return Object.assign(req, {
    method: 'GET',
    url: '/api/v1/stream',
    headers,
    rawHeaders: Object.entries(headers).flat(),
  });
}
