/** What a bench worker returns for a job; the peers of the bench return the same. */
export const benchAnswer = (prompt: string, attempt: number) => ({
  answer: `Berth ${prompt.length % 40} is free from six in the morning.`,
  attempt,
});

/** Counts the executions of each job in a worker process, and reports them to the bench process on request. */
export class ExecutionCounts {
  private readonly runs = new Map<string, number>();

  constructor() {
    // Requested between measurements, never during one.
    process.on('message', () => {
      const repeated = [...this.runs].filter(([, times]) => times > 1).map(([id]) => id);
      process.send?.({ jobs: this.runs.size, repeated });
      this.runs.clear();
    });
    // The bench process has exited.
    process.once('disconnect', () => process.exit(1));
  }

  add(jobId: string): void {
    this.runs.set(jobId, (this.runs.get(jobId) ?? 0) + 1);
  }
}

/** Reports to the bench process that the worker is ready, or exits when it cannot start. */
export const reportReady = (started: Promise<unknown>): void =>
  void started.then(
    () => process.send?.('up'),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
