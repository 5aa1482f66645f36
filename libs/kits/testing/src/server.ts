import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireProgram } from './find-program';
import { accepts, freePort } from './free-port';
import { endChild, isRunning, spawnLeashed } from './leash';

/** A server of one test file, with its own port and its data in a temporary directory. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  /** Process id of the running server. */
  readonly pid: number;
  /** Ends the process, by default with SIGKILL, and keeps the data. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Restarts the server on the same port and data; a no-op while it runs. */
  start(): Promise<void>;
  /** Ends the process and removes its data. */
  stop(): Promise<void>;
}

interface ServerOptions {
  program: string;
  scheme: string;
  args: (port: number, dataDir: string) => string[];
}

const attempts = 5;
const startWithinMs = 20_000;

/** @throws Error when the program is not installed or does not start */
export async function startServer({ program, scheme, args }: ServerOptions): Promise<TestServer> {
  const command = requireProgram(program);
  const dataDir = mkdtempSync(join(tmpdir(), `svc-test-${program}-`));
  const spawn = (port: number) => spawnLeashed(command, args(port, dataDir), { scratchDir: dataDir });

  let port = 0;
  let child: ChildProcess | undefined;
  // Another process may take the port between finding and using it.
  for (let i = 0; i < attempts && !child; i++) {
    port = await freePort();
    child = await untilAccepting(spawn(port), port);
  }
  if (!child) throw new Error(`${command} did not start`);
  let running = child;

  return {
    url: `${scheme}://127.0.0.1:${port}`,
    port,
    get pid() {
      return running.pid ?? 0;
    },
    kill: (signal = 'SIGKILL') => endChild(running, signal),
    async start() {
      if (isRunning(running)) return;
      // Clients may reconnect before the wait ends, and then need the pid of the new process.
      running = spawn(port);
      if (!(await untilAccepting(running, port))) throw new Error(`${command} did not start again on port ${port}`);
    },
    async stop() {
      await endChild(running);
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** @returns the child once it accepts connections, undefined if it exits before */
async function untilAccepting(child: ChildProcess, port: number): Promise<ChildProcess | undefined> {
  const deadlineMs = Date.now() + startWithinMs;
  while (isRunning(child)) {
    if (await accepts(port)) return isRunning(child) ? child : undefined;
    if (Date.now() > deadlineMs) {
      await endChild(child, 'SIGKILL');
      throw new Error(`${child.spawnargs.at(-1)} accepts no connection on port ${port}`);
    }
    await new Promise((resume) => setTimeout(resume, 5));
  }
  return undefined;
}
