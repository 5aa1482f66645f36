import { startServer, type TestServer } from './server';

/** Starts a NATS server with JetStream and file storage. */
export const startNats = (): Promise<TestServer> =>
  startServer({
    program: 'nats-server',
    scheme: 'nats',
    args: (port, dataDir) => ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', dataDir],
  });
