import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { EventStream, sendEvents } from './event-stream';

describe('sendEvents', () => {
  it('releases the stream of a client that disconnected before it was opened', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const res = await new Promise<ServerResponse>((resolve) => server.once('request', (_req, res) => resolve(res)));
    const left = new Promise((resolve) => res.once('close', resolve));
    client.destroy();
    await left;

    let isReleased = false;
    // Has no end of its own.
    async function* read(signal: AbortSignal) {
      yield [{ event: 'first', data: {} }];
      await new Promise((resolve) => {
        if (signal.aborted) resolve(undefined);
        else signal.addEventListener('abort', resolve);
      });
    }
    await sendEvents(res, new EventStream(read, () => void (isReleased = true)), {
      keepAliveMs: 60_000,
      recheckMs: 60_000,
      recheck: async () => true,
    });

    expect(isReleased).toBe(true);
    await new Promise((resolve) => server.close(resolve));
  });
});
