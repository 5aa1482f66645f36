import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { endChild, isRunning, spawnLeashed } from '@svc/testing';

/** One process of the stack and its readiness check. */
export interface ProcessPlan {
  name: string;
  command: string;
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Readiness check, polled until true. A rejection counts as not ready. */
  isReady(): Promise<boolean>;
}

export interface SupervisedOptions {
  onLine(line: string): void;
  /** Called whenever a process has started or exited. */
  onChange(): void;
  /** Called when a process exits without a request, or with an error after one. */
  onUnaskedEnd?(end: UnaskedEnd): void;
  readyWithinMs?: number;
  firstPauseMs?: number;
  longestPauseMs?: number;
}

/** How a process exited, or why it was killed. */
export interface UnaskedEnd {
  name: string;
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The last lines of its output, at most 50, oldest first. */
  lastLines: readonly string[];
}

const rememberedLines = 50;
const probeEveryMs = 25;
/** Uptime after which a process counts as healthy, and the restart delay is reset. */
const settledAfterMs = 10_000;

/** Keeps one process running until it is stopped. */
export class Supervised {
  private child: ChildProcess | undefined;
  private launchedAtMs = 0;
  private wanted = false;
  private deaths = 0;
  private restartTimer: NodeJS.Timeout | undefined;
  /** Output of the latest process. */
  private lastLines: string[] = [];
  /** Resolves when that process has exited and its output has been read. */
  private closed: Promise<unknown> = Promise.resolve();
  /** The signal sent to each process to stop it. */
  private readonly asked = new WeakMap<ChildProcess, NodeJS.Signals>();

  constructor(
    private readonly plan: ProcessPlan,
    private readonly options: SupervisedOptions,
  ) {}

  get name(): string {
    return this.plan.name;
  }

  /** Process id, undefined while it is down. */
  get pid(): number | undefined {
    return this.child && isRunning(this.child) ? this.child.pid : undefined;
  }

  /** How long it has been running, ms; 0 while it is down. */
  get ageMs(): number {
    return this.pid === undefined ? 0 : Date.now() - this.launchedAtMs;
  }

  /**
   * Starts the process and waits until it is ready. From then on it is restarted when it exits.
   *
   * @throws Error with its last lines when it exits before that, or is not ready in time
   */
  async start(): Promise<void> {
    if (this.pid === undefined) this.launch();
    await this.untilReady();
    this.wanted = true;
    if (this.pid === undefined) this.restartLater();
  }

  /** Stops the process without a restart; sends SIGKILL after `withinMs`. */
  async stop(withinMs = 10_000, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.wanted = false;
    clearTimeout(this.restartTimer);
    await this.end(signal, withinMs);
  }

  /** Kills the process; the supervisor restarts it. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await this.end(signal);
  }

  private async end(signal: NodeJS.Signals, withinMs?: number): Promise<void> {
    if (!this.child) return;
    if (isRunning(this.child)) this.asked.set(this.child, signal);
    await endChild(this.child, signal, withinMs);
  }

  /** Resolves when the process is ready, also during a restart. */
  async untilReady(): Promise<void> {
    const deadlineMs = Date.now() + (this.options.readyWithinMs ?? 60_000);
    while (!(await this.serves())) {
      if (this.pid === undefined && !this.wanted) {
        await this.closed;
        throw this.failure('ended before it was ready');
      }
      if (Date.now() > deadlineMs) throw this.failure('was not ready in time');
      await new Promise((resume) => setTimeout(resume, probeEveryMs));
    }
  }

  /** Ignores the response if the process has changed: its predecessor may have used the same port. */
  private async serves(): Promise<boolean> {
    const { pid } = this;
    if (pid === undefined) return false;
    return (await this.plan.isReady().catch(() => false)) && this.pid === pid;
  }

  private launch(): void {
    const { command, args, cwd, env } = this.plan;
    const child = spawnLeashed(command, args, { cwd, env, output: 'pipe' });
    const startedMs = Date.now();
    const lines: string[] = [];
    this.child = child;
    this.lastLines = lines;
    this.launchedAtMs = startedMs;
    this.closed = once(child, 'close');
    for (const output of [child.stdout, child.stderr]) {
      if (output) createInterface({ input: output }).on('line', (line) => this.note(line, lines));
    }
    child.once('exit', (code, signal) => {
      this.deaths = Date.now() - startedMs > settledAfterMs ? 1 : this.deaths + 1;
      if (this.wanted) {
        const asked = this.asked.get(child);
        const isExpected = asked === 'SIGKILL' || (asked !== undefined && code === 0);
        // Its last lines may not have been read yet.
        if (!isExpected) child.once('close', () => this.options.onUnaskedEnd?.({ name: this.name, code, signal, lastLines: lines })); // prettier-ignore
        this.note(`ended (${signal ?? `exit code ${code}`}); starting it again`, lines);
        this.restartLater();
      }
      this.options.onChange();
    });
    this.options.onChange();
  }

  private restartLater(): void {
    const { firstPauseMs = 100, longestPauseMs = 5_000 } = this.options;
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.max(0, this.deaths - 1));
    clearTimeout(this.restartTimer);
    this.restartTimer = setTimeout(() => this.wanted && this.pid === undefined && this.launch(), pauseMs);
  }

  private note(line: string, lines: string[]): void {
    lines.push(line);
    if (lines.length > rememberedLines) lines.shift();
    this.options.onLine(line);
  }

  private failure(what: string): Error {
    return new Error([`${this.name} ${what}`, ...this.lastLines.map((line) => `  ${line}`)].join('\n'));
  }
}
