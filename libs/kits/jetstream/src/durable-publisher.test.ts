import { eventually, useServers } from '@svc/testing';
import { connect, type NatsConnection } from 'nats';
import { DurablePublisher } from './durable-publisher';

describe('the durable publisher', () => {
  const servers = useServers();
  let connection: NatsConnection;
  beforeEach(async () => void (connection = await connect({ servers: servers.natsUrl })));
  afterEach(() => connection.close());

  it('closing rejects pending confirmations and queued publishes', async () => {
    // A subscriber without a stream: neither a confirmation nor an error arrives.
    connection.subscribe('mute');
    const publisher = new DurablePublisher(connection, 60_000, 1);
    const outcomes = Promise.allSettled([
      publisher.publish('mute', Buffer.of()),
      publisher.publish('mute', Buffer.of()),
    ]);
    const settled = publisher.settled();
    await eventually(() => expect(publisher.inFlight).toBe(1));

    publisher.close();

    const closed = { status: 'rejected', reason: expect.objectContaining({ reason: 'closed' }) as unknown };
    expect(await outcomes).toEqual([closed, closed]);
    await expect(settled).resolves.toBeUndefined();
  });

  it('gets its confirmations under the inbox prefix of the connection', async () => {
    const manager = await connection.jetstreamManager();
    await manager.streams.add({ name: 'KEPT', subjects: ['kept'] });
    const seen: string[] = [];
    connection.subscribe('OWN.>', { callback: (_, { subject }) => void seen.push(subject) });
    const publisher = new DurablePublisher(connection, undefined, undefined, 'OWN');

    expect(await publisher.publish('kept', Buffer.of(1))).toMatchObject({ stream: 'KEPT' });

    await eventually(() => expect(seen).toHaveLength(1));
    publisher.close();
  });
});
