import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

/** Resolves once the condition holds, asked every 10 ms. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  withinMs = 15_000,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resume) => setTimeout(resume, 10));
  }
}

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => (socket.destroy(), resolve(true))).on('error', () =>
      resolve(false),
    );
  });

/** A NATS server of this test's own, with JetStream, which can be killed and started again on its data. */
export async function startNats() {
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), 'nats-'));
  let child: ChildProcess;
  const start = async () => {
    child = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', dir], { stdio: 'ignore' });
    await until(() => accepts(port), 'nats-server accepts connections');
  };
  const kill = async (signal: NodeJS.Signals = 'SIGKILL') => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  };
  await start();
  const stop = async () => {
    await kill('SIGTERM');
    rmSync(dir, { recursive: true, force: true });
  };
  return { url: `nats://127.0.0.1:${port}`, start, kill, stop };
}
