/** Kind of events, each with its own permission. */
export type EventClass = 'job' | 'run' | 'worker' | 'alert' | 'audit';

/** An event for stream clients. */
export interface StreamEvent {
  class: EventClass;
  /** Such as `job.result.succeeded`. See docs/reference/streams.md#events. */
  type: string;
  /** Absent: only clients with access to all tenants receive it. */
  tenant?: string;
  jobId?: string;
  runId?: string;
  /** The JSON form of a packet, or its text. */
  packet: object | string;
}

/** An event with its text, which is made once for all clients. */
export class Frame {
  private encoded: Buffer | undefined;

  constructor(readonly event: StreamEvent) {}

  get bytes(): Buffer {
    const { packet } = this.event;
    return (this.encoded ??= Buffer.from(typeof packet === 'string' ? packet : JSON.stringify(packet)));
  }
}
