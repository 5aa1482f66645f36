import { Worker } from 'node:worker_threads';
import type { ThreadEntry } from '../thread-entry';
import { threadReady, type ScanAnswer, type ScanQuestion, type ScanThreadData } from './scan-messages';

export interface ScanPoolSettings {
  threads: number;
  /** Timeout of a scan; its thread is then terminated and replaced. */
  limitMs: number;
  /** Maximum queued scans; further ones are rejected. */
  maxWaiting: number;
}

/** Timeout for loading the code of a thread. */
const startMs = 10_000;
/** Time after the timeout for a thread to end the scan by itself. */
const graceMs = 450;

interface Waiting {
  question: ScanQuestion;
  resolve(answer: ScanAnswer): void;
  reject(error: Error): void;
}

/** Threads that scan large bodies, so that the process stays responsive. Started on first use. */
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

  /** Rejects on timeout, when the thread crashes, and when the queue is full. */
  scan(question: ScanQuestion): Promise<ScanAnswer> {
    if (this.closed) return Promise.reject(new Error('the scan threads are stopped'));
    if (this.waiting.length >= this.settings.maxWaiting) return Promise.reject(new Error('too many scans wait'));
    return new Promise((resolve, reject) => {
      this.waiting.push({ question, resolve, reject });
      this.next();
    });
  }

  /** Terminates the threads; scans in progress are rejected. */
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
    // The thread checks the time between windows; it is terminated when one window takes too long, and not for
    // having waited for a busy machine.
    const limitMs = Math.min((question.limitMs ?? Infinity) + graceMs, this.settings.limitMs);
    const late = () => {
      done();
      // An unhandled error during termination would crash the process.
      worker.on('error', () => undefined);
      void worker.terminate();
      reject(new Error(`the scan did not end within ${limitMs} ms`));
    };
    // Loading the code does not count, since it takes longer than the shortest timeout.
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
