import { build } from 'esbuild';
import { fork, type ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { StackInfo } from '../stack';

/** Worker processes of the demonstration, each as a user would run one. */
export class Workers {
  private readonly running = new Map<string, ChildProcess>();

  private constructor(
    private readonly script: string,
    private readonly info: StackInfo,
  ) {}

  static async prepare(info: StackInfo, root: string): Promise<Workers> {
    // Beside the packages it needs, so that Node finds them.
    const folder = join(root, 'node_modules', '.svc-demo');
    mkdirSync(folder, { recursive: true });
    const script = join(folder, 'worker.cjs');
    await build({
      entryPoints: [join(root, 'tools/demo/worker.ts')],
      outfile: script,
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'cjs',
      packages: 'external',
      tsconfig: join(root, 'tsconfig.base.json'),
      logLevel: 'warning',
    });
    return new Workers(script, info);
  }

  /** Resolves once the worker serves. */
  async start(id: string): Promise<void> {
    const child = fork(this.script, [], {
      env: { ...process.env, WORKER_ID: id, NATS_URL: this.info.nats_url, REDIS_URL: this.info.redis_url },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.running.set(id, child);
    await new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve());
      child.once('exit', (code) => reject(new Error(`worker ${id} ended with ${code} before it was up`)));
    });
  }

  /** Ends a worker without warning, as a crash would. */
  kill(id: string): void {
    this.running.get(id)?.kill('SIGKILL');
    this.running.delete(id);
  }

  async stop(): Promise<void> {
    const ended = [...this.running.values()].map(
      (child) =>
        new Promise<void>((resolve) => {
          if (child.exitCode !== null || child.signalCode !== null) return resolve();
          child.once('exit', () => resolve());
          child.kill('SIGTERM');
          setTimeout(() => child.kill('SIGKILL'), 5_000).unref();
        }),
    );
    this.running.clear();
    await Promise.all(ended);
  }
}
