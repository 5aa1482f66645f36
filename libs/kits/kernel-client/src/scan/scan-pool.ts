import { Worker } from 'node:worker_threads';
import type { ThreadEntry } from '../thread-entry';
import { threadReady, type ScanAnswer, type ScanQuestion, type ScanThreadData } from './scan-messages';

export interface ScanPoolSettings {
  threads: number;
  /** How long one question may take on its thread. Then the thread is ended and another one takes its place. */
  limitMs: number;
  /** Questions that may wait for a thread; more are refused at once. */
  maxWaiting: number;
}

/** How long a thread may take to load its code. */
const startMs = 10_000;
/** How long a thread may go on behind the limit of a question, to end by itself. */
const graceMs = 450;

interface Waiting {
  question: ScanQuestion;
  resolve(answer: ScanAnswer): void;
  reject(error: Error): void;
}

/** Threads that scan large bodies, so that the process goes on answering meanwhile. They are started when first needed. */
export class ScanPool {
  private readonly waiting: Waiting[] = [];
  private readonly idle: Worker[] = [];
  private readonly all = new Set<Worker>();
  private readonly ready = new WeakSet<Worker>();
  private closed = false;

  constructor(
    private readonly data: ScanThreadData,
    private readonly settings: ScanPoolSettings,
    private readonly entry: ThreadEntry,
  ) {}

  /** Rejects when the scan did not end in its time, when its thread broke, and when too many wait. */
  scan(question: ScanQuestion): Promise<ScanAnswer> {
    if (this.closed) return Promise.reject(new Error('the scan threads are stopped'));
    if (this.waiting.length >= this.settings.maxWaiting) return Promise.reject(new Error('too many scans wait'));
    return new Promise((resolve, reject) => {
      this.waiting.push({ question, resolve, reject });
      this.next();
    });
  }

  /** Ends the threads; scans under way are rejected. */
  async close(): Promise<void> {
    this.closed = true;
    for (const { reject } of this.waiting.splice(0)) reject(new Error('the scan threads are stopped'));
    await Promise.all([...this.all].map((worker) => worker.terminate()));
  }

  private next(): void {
    if (this.waiting.length === 0 || this.closed) return;
    const worker = this.idle.pop() ?? (this.all.size < this.settings.threads ? this.start() : undefined);
    const asked = worker && this.waiting.shift();
    if (worker && asked) this.run(worker, asked);
  }

  private start(): Worker {
    const { file, execArgv } = this.entry;
    const worker = new Worker(file, {
      workerData: this.data,
      execArgv: [...execArgv],
    });
    this.all.add(worker);
    worker.once('exit', () => {
      this.all.delete(worker);
      const at = this.idle.indexOf(worker);
      if (at >= 0) this.idle.splice(at, 1);
      this.next();
    });
    return worker;
  }

  private run(worker: Worker, { question, resolve, reject }: Waiting): void {
    const done = () => {
      clearTimeout(timer);
      worker.removeAllListeners('message').removeListener('error', onError).removeListener('exit', onExit);
    };
    const onError = (error: Error) => {
      done();
      reject(error);
    };
    const onExit = () => {
      done();
      reject(new Error('the scan thread ended'));
    };
    // The thread looks at the time by itself between windows; it is ended when one window takes too long, and not for
    // having waited for a busy machine.
    const limitMs = Math.min((question.limitMs ?? Infinity) + graceMs, this.settings.limitMs);
    const late = () => {
      done();
      // An error while it is being ended has no one left to hear it, and unheard it would end the process.
      worker.on('error', () => undefined);
      void worker.terminate();
      reject(new Error(`the scan did not end within ${limitMs} ms`));
    };
    // Loading the thread's code is no part of a scan, and takes longer than the shortest of them may.
    let timer = setTimeout(late, this.ready.has(worker) ? limitMs : startMs + limitMs);
    worker.ref();
    worker.once('error', onError).once('exit', onExit);
    worker.on('message', (answer: ScanAnswer | typeof threadReady | undefined) => {
      this.ready.add(worker);
      if (answer === threadReady) {
        clearTimeout(timer);
        timer = setTimeout(late, limitMs);
        return;
      }
      done();
      worker.unref();
      this.idle.push(worker);
      if (answer) resolve(answer);
      else reject(new Error('the scan did not end in its time'));
      this.next();
    });
    worker.postMessage(question);
  }
}
