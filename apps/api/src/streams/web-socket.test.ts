import { heartbeatPacket, subjects } from '@svc/contract';
import { eventually } from '@svc/testing';
import { useApi } from '../api.testing';
import { identities, type Who } from '../identities.testing';
import { connectStream, startStreams, summarize, type StreamServer } from './streams.testing';

const encoded = (who: Who) => Buffer.from(identities[who].key).toString('base64url');

describe('WebSocket streams', () => {
  const api = useApi();
  let streams: StreamServer;
  beforeAll(async () => {
    streams = await startStreams(api, { options: { allowedOrigins: ['https://app.example'] } });
  });
  afterAll(() => streams.stop());
  const all = () => `${streams.url}/api/v1/stream`;

  const refusals: [name: string, path: string, who: Who | undefined, status: string][] = [
    ['no credentials', '/api/v1/stream', undefined, '401'],
    ...(['operator', 'user', 'viewer', 'clerk', 'otherOperator', 'otherViewer'] as const).map(
      (who): [string, string, Who, string] => [`all events as ${who}`, '/api/v1/stream', who, '403'],
    ),
    ['a tenant in the query that the key does not cover', '/api/v1/stream?tenant_id=globex', 'admin', '403'],
    ['a job that does not exist', '/api/v1/jobs/nothing/stream', 'viewer', '404'],
    ['another path', '/api/v1/jobs', 'admin', '404'],
  ];
  it.each(refusals)('%s: %s as %s is refused with %s', async (_name, path, who, status) => {
    await expect(connectStream(`${streams.url}${path}`, who ? { who } : {})).rejects.toThrow(status);
  });

  it('403: a job of another tenant, for each of its roles', async () => {
    const id = await api.given.job();

    for (const who of ['other', 'otherOperator', 'otherUser', 'otherViewer', 'otherClerk'] as const) {
      await expect(connectStream(`${streams.url}/api/v1/jobs/${id}/stream`, { who })).rejects.toThrow('403');
    }
  });

  it('426: a request that does not upgrade', async () => {
    expect(await api.as('admin').get('/api/v1/stream')).toMatchObject({
      status: 426,
      body: { code: 'upgrade_required' },
    });
  });

  it('the key may be a subprotocol, of which only the name is echoed', async () => {
    const client = await connectStream(all(), {}, ['svc-api-key', encoded('admin')]);
    expect(client.socket.protocol).toBe('svc-api-key');
    client.socket.close();

    await expect(connectStream(all(), {}, ['svc-api-key', encoded('viewer')])).rejects.toThrow('403');
    await expect(connectStream(all(), {}, ['svc-api-key', 'bm9uZQ'])).rejects.toThrow('401');
  });

  it('only listed origins connect, and a session cookie never without one', async () => {
    const { body } = await api.anonymous.get('/api/v1/jobs', {});
    expect(body).toMatchObject({ code: 'unauthorized' });
    const listed = await connectStream(all(), { who: 'admin', origin: 'https://app.example' });
    listed.socket.close();

    for (const origin of [
      'https://evil.example',
      'http://localhost:3000',
      'https://app.example.evil.example',
      'null',
    ]) {
      await expect(connectStream(all(), { who: 'admin', origin })).rejects.toThrow('403');
    }
  });

  it('an offer of another protocol is ignored, and the request is served with its body', async () => {
    const { connect } = await import('node:net');
    const socket = connect(Number(new URL(streams.url).port), '127.0.0.1');
    const chunks: string[] = [];
    socket.on('data', (data) => void chunks.push(data.toString()));
    socket.write(
      'POST /x HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nhi',
    );

    await eventually(() => expect(chunks.join('')).toMatch(/^HTTP\/1.1 200 [\s\S]*served/));
    socket.destroy();
  });

  it('each tenant receives the events of its own jobs only, a cross-tenant client all', async () => {
    const acme = await connectStream(all(), { who: 'admin' });
    const globex = await connectStream(all(), { who: 'other' });
    const everywhere = await connectStream(all(), { who: 'everywhere' });
    const narrowed = await connectStream(`${all()}?tenant_id=globex`, { who: 'everywhere' });

    const ours = await api.given.job({ state: 'SUCCEEDED' });
    const theirs = await api.given.job({ tenant: 'globex', state: 'CANCELLED' });
    const head = { trace_id: 't', sender_id: 'w-1', nowUs: Date.now() * 1_000, auth_token: 'secret-token' };
    api.bus.publish(subjects.heartbeat.name, heartbeatPacket(head, { worker_id: 'w-1', pool: 'p' }));
    await eventually(() => expect(everywhere.packets).toHaveLength(8));
    await eventually(() => expect([acme.packets.length, narrowed.packets.length]).toEqual([4, 3]));

    expect(summarize(acme.packets)).toEqual([
      ['jobRequest', ours, undefined],
      ['jobProgress', ours, 'JOB_STATUS_DISPATCHED'],
      ['jobProgress', ours, 'JOB_STATUS_RUNNING'],
      ['jobResult', ours, 'JOB_STATUS_SUCCEEDED'],
    ]);
    expect(summarize(globex.packets)).toEqual([
      ['jobRequest', theirs, undefined],
      ['jobCancel', theirs, undefined],
      ['jobResult', theirs, 'JOB_STATUS_CANCELLED'],
    ]);
    expect(narrowed.packets).toEqual(globex.packets);
    expect(summarize(everywhere.packets).filter(([kind]) => kind === 'heartbeat')).toHaveLength(1);
    expect(JSON.stringify(everywhere.packets)).not.toContain('secret-token');
    expect(acme.packets[0]).toMatchObject({
      protocolVersion: '1',
      createdAt: { seconds: expect.any(Number) as number, nanos: expect.any(Number) as number },
      jobRequest: { topic: 'job.default', tenantId: 'acme' },
    });
    for (const { socket } of [acme, globex, everywhere, narrowed]) socket.close();
  });

  it('the stream of a job has its events only, and never the pointer of a withheld result', async () => {
    const id = await api.given.job({ state: 'RUNNING' });
    const client = await connectStream(`${streams.url}/api/v1/jobs/${id}/stream`, { who: 'viewer' });

    await api.given.job({ state: 'SUCCEEDED' });
    const part = { kind: 'output', at: Date.now() * 1_000, text: 'Hello', offset: 7 };
    await api.store.eventLogs.report(id, 'worker-7', '', [JSON.stringify(part)]);
    await api.store.jobs.move('*', id, 'quarantine', {
      set: { result_ptr: `redis://res:${id}`, error_code: 'output_quarantined' },
    });

    await eventually(() => expect(client.packets).toHaveLength(2));
    expect(client.packets[0]).toMatchObject({
      senderId: 'worker-7',
      identity: { tenantId: 'acme' },
      jobProgress: { jobId: id, status: 'JOB_STATUS_RUNNING', output: 'Hello', outputOffset: 7, attempt: 1 },
    });
    expect(client.packets[1]?.['jobResult']).toEqual({
      jobId: id,
      status: 'JOB_STATUS_DENIED',
      workerId: 'worker-7',
      errorCode: 'output_quarantined',
    });
    client.socket.close();
  });

  it('1009: a message over the limit ends the connection', async () => {
    const client = await connectStream(all(), { who: 'admin' });

    client.socket.send('x'.repeat(5_000));

    expect((await client.closed)[0]).toBe(1009);
  });
});
