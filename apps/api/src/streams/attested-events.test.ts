import { alertPacket, encodePacket, heartbeatPacket, subjects } from '@svc/contract';
import type { StreamEvent } from '@svc/streams';
import { eventually } from '@svc/testing';
import { connect, type NatsConnection } from 'nats';
import { useApi, type Api } from '../api.testing';

/** Heartbeats and alerts that an administrator of all tenants sees. */
async function follow({ ctx }: Api) {
  const seen: StreamEvent[] = [];
  const leave = await ctx.events.hub.subscribe({
    scope: '*',
    classes: new Set(['worker', 'alert']),
    deliver: ({ event }) => void seen.push(event),
  });
  const messages = () =>
    seen.map(({ type, packet }) => (packet as { alert?: { message: string } }).alert?.message ?? type);
  return { messages, leave };
}

/** A client of the bus that claims to be a worker or a service. */
function sender(connection: NatsConnection, sender_id: string, auth_token = '') {
  const head = () => ({ trace_id: 't', sender_id, nowUs: Date.now() * 1_000, auth_token });
  return {
    alert: (message: string) =>
      connection.publish(subjects.alert.name, encodePacket(alertPacket(head(), { severity: 'info', message }))),
    beat: () =>
      connection.publish(
        subjects.heartbeat.name,
        encodePacket(heartbeatPacket(head(), { worker_id: sender_id, pool: 'demo' })),
      ),
  };
}

describe('heartbeats and alerts on the stream while attestation is enforced', () => {
  const api = useApi({ env: { TENANT_ID: 'house', WORKER_ATTESTATION: 'enforce' } });
  let connection: NatsConnection;
  beforeAll(async () => {
    connection = await connect({ servers: api.servers.natsUrl });
  });
  afterAll(() => connection.close());

  it('those that prove their sender are seen once, all others not, and refused alerts are counted', async () => {
    api.license('enterprise');
    const { messages, leave } = await follow(api);
    const credential = { worker_id: 'w-1', allowed_pools: ['demo'] };
    const { body } = await api.as('admin').post('/api/v1/workers/credentials', credential);
    const worker = sender(connection, 'w-1', body['token'] as string);
    await eventually(() => {
      worker.beat();
      expect(messages()).toContain('worker.heartbeat');
    });

    const forged = sender(connection, 'w-1');
    forged.beat();
    forged.alert('no token');
    sender(connection, 'w-1', 'f'.repeat(64)).alert('wrong token');
    sender(connection, 'w-2', body['token'] as string).alert('the token of another');
    sender(connection, 'scheduler-1').alert('in the name of a service');
    worker.alert('of the worker');
    await connection.flush();
    const head = { trace_id: 't', sender_id: 'gateway-1', nowUs: Date.now() * 1_000 };
    api.bus.publish(subjects.alert.name, alertPacket(head, { severity: 'info', message: 'of a service' }));

    const alerts = () => messages().filter((text) => text !== 'worker.heartbeat');
    await eventually(() => expect(alerts().sort()).toEqual(['of a service', 'of the worker']));
    expect(await api.metrics()).toMatch(/svc_gateway_ws_events_dropped_total\{[^}]*reason="unattested"[^}]*\} 3\b/);
    leave();
  });
});

describe('heartbeats and alerts on the stream without attestation', () => {
  const api = useApi();

  it('are seen once, whatever their sender proves', async () => {
    const connection = await connect({ servers: api.servers.natsUrl });
    const { messages, leave } = await follow(api);
    const worker = sender(connection, 'w-1');

    worker.beat();
    worker.alert('of a worker');
    sender(connection, 'scheduler-1').alert('in the name of a service');
    await connection.flush();
    const head = { trace_id: 't', sender_id: 'gateway-1', nowUs: Date.now() * 1_000 };
    api.bus.publish(subjects.alert.name, alertPacket(head, { severity: 'info', message: 'of a service' }));

    await eventually(() => expect(messages()).toContain('of a service'));
    expect(messages().sort()).toEqual(['in the name of a service', 'of a service', 'of a worker', 'worker.heartbeat']);
    leave();
    await connection.close();
  });
});
