import type { ServerResponse } from 'node:http';

/** An event of a stream; `data` is written as JSON. */
export interface ServerSentEvent {
  /** Position that the client sends back as Last-Event-ID. */
  id?: string;
  event: string;
  data: unknown;
}

/** An answer that is sent as Server-Sent Events until the source or the client ends it. */
export class EventStream {
  /**
   * @param read yields events in batches; must end soon after the signal is aborted
   * @param close called once, also when nothing was read
   */
  constructor(
    readonly read: (signal: AbortSignal) => AsyncIterable<readonly ServerSentEvent[]>,
    readonly close: () => void = () => undefined,
  ) {}
}

export interface SendEventsOptions {
  /** Interval of comments that keep proxies from closing an idle connection. */
  keepAliveMs: number;
  /** Interval at which `recheck` is called. */
  recheckMs: number;
  /** Whether the client may still read. */
  recheck(): Promise<boolean>;
  /** Calls back when the answer of `recheck` may have changed. Returns a function that ends this. */
  followCredential?(check: () => void): () => void;
  /** Aborted when the service stops. */
  stopping?: AbortSignal | undefined;
}

/** A JSON text has no line breaks. */
const toText = ({ id, event, data }: ServerSentEvent): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** Writes the events. A client that does not read stops the source, and the server's write timeout ends it. */
export async function sendEvents(res: ServerResponse, stream: EventStream, options: SendEventsOptions): Promise<void> {
  const ended = new AbortController();
  const end = () => ended.abort();
  const { stopping, keepAliveMs, recheckMs, recheck, followCredential } = options;
  const check = () => void recheck().then((may) => may || end(), end);
  const timers = [setInterval(() => res.write(': keep-alive\n\n'), keepAliveMs), setInterval(check, recheckMs)];
  const unfollow = followCredential?.(check);
  res.once('close', end);
  stopping?.addEventListener('abort', end, { once: true });
  try {
    // The client may have disconnected while the handler ran.
    if (stopping?.aborted || res.destroyed) end();
    res.statusCode = 200;
    res.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
    // Proxies would otherwise collect events.
    res.setHeader('X-Accel-Buffering', 'no');
    res.flushHeaders();
    for await (const events of stream.read(ended.signal)) {
      if (ended.signal.aborted) break;
      if (!res.write(events.map(toText).join(''))) await drained(res, ended.signal);
    }
  } finally {
    timers.forEach((timer) => clearInterval(timer));
    unfollow?.();
    stopping?.removeEventListener('abort', end);
    end();
    stream.close();
    res.end();
  }
}

/** Resolves when the client has read what was written, or the signal is aborted. */
export const drained = (res: ServerResponse, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const go = () => {
      res.off('drain', go);
      signal.removeEventListener('abort', go);
      resolve();
    };
    res.once('drain', go);
    signal.addEventListener('abort', go, { once: true });
    if (signal.aborted) go();
  });
