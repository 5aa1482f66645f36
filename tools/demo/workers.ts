import type { ChildProcess } from 'node:child_process';
import { bundleProgram, firstMessage, startChild, stopChild } from '../child-program';
import type { StackInfo } from '../stack';

const stopWithinMs = 5_000;
const pool = 'demo';

/** Workers that the stack creates credentials for. */
export const demoWorkers = { [pool]: ['crane-1', 'crane-2'] };

/** Worker processes of the demo. */
export class Workers {
  private readonly running = new Map<string, ChildProcess>();

  private constructor(
    private readonly script: string,
    private readonly info: StackInfo,
  ) {}

  static async prepare(info: StackInfo): Promise<Workers> {
    return new Workers(await bundleProgram('tools/demo/worker.ts'), info);
  }

  /** Resolves when the worker is ready. */
  async start(id: string): Promise<void> {
    const access = this.info.workers[pool]?.find(({ worker_id }) => worker_id === id);
    const { nats_url: NATS_URL, redis_url: REDIS_URL } = access ?? this.info;
    const child = startChild(this.script, { ...process.env, WORKER_ID: id, NATS_URL, REDIS_URL });
    this.running.set(id, child);
    await firstMessage(child);
  }

  /** Kills a worker, like a crash. */
  kill(id: string): void {
    this.running.get(id)?.kill('SIGKILL');
    this.running.delete(id);
  }

  async stop(): Promise<void> {
    const children = [...this.running.values()];
    this.running.clear();
    await Promise.all(children.map((child) => stopChild(child, stopWithinMs)));
  }
}
