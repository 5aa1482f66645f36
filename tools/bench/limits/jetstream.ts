import { connect, createInbox, RetentionPolicy, StorageType } from 'nats';
import { measureRate, type LimitServers } from './servers';

/** Confirmed messages of 500 bytes per second on a file stream, 500 in flight, one inbox for all acknowledgements. */
export async function jetstreamPublish({ nats: { url }, quick }: LimitServers): Promise<number> {
  const connection = await connect({ servers: url });
  const manager = await connection.jetstreamManager();
  const stream = { name: 'BENCH', subjects: ['bench'], storage: StorageType.File, retention: RetentionPolicy.Limits };
  await manager.streams.add(stream);
  const inbox = createInbox();
  const waiting = new Map<string, () => void>();
  connection.subscribe(`${inbox}.*`, {
    callback: (_error, { subject }) => {
      const token = subject.slice(inbox.length + 1);
      waiting.get(token)?.();
      waiting.delete(token);
    },
  });
  const bytes = Buffer.alloc(500, 'x');
  let sent = 0;
  const publish = () =>
    new Promise<void>((resolve) => {
      const token = String((sent += 1));
      waiting.set(token, resolve);
      connection.publish('bench', bytes, { reply: `${inbox}.${token}` });
    });
  try {
    await measureRate(2_000, 500, publish);
    return await measureRate(quick ? 20_000 : 100_000, 500, publish);
  } finally {
    await manager.streams.delete('BENCH');
    await connection.close();
  }
}
