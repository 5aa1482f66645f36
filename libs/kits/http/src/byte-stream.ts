import type { ServerResponse } from 'node:http';
import { drained } from './event-stream';

/** An answer of any length, sent as it is produced. */
export class ByteStream {
  /**
   * @param read yields parts. What it throws before the first is the error of the request; later it ends the connection, so a
   *   source that must not end silently reports failures itself. It must end soon after the signal is aborted, which happens when
   *   the client disconnects or the service stops.
   */
  constructor(
    readonly read: (signal: AbortSignal) => AsyncIterable<string | Uint8Array>,
    readonly options: { type: string; headers?: Readonly<Record<string, string>> },
  ) {}
}

/** Writes the parts at the speed at which the client reads. The server's write timeout ends a client that does not. */
export async function sendStream(
  res: ServerResponse,
  { read, options: { type, headers = {} } }: ByteStream,
  stopping?: AbortSignal,
): Promise<void> {
  const ended = new AbortController();
  const end = () => ended.abort();
  res.once('close', end);
  stopping?.addEventListener('abort', end, { once: true });
  if (stopping?.aborted || res.destroyed) end();
  const parts = read(ended.signal)[Symbol.asyncIterator]();
  try {
    let part = await parts.next();
    res.statusCode = 200;
    res.setHeader('Content-Type', type);
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    // Proxies would otherwise collect the whole answer.
    res.setHeader('X-Accel-Buffering', 'no');
    for (; !part.done && !res.destroyed; part = await parts.next()) {
      if (!res.write(part.value)) await drained(res, ended.signal);
    }
    res.end();
  } catch (error) {
    if (!res.headersSent) throw error;
    res.destroy();
  } finally {
    stopping?.removeEventListener('abort', end);
    end();
    await parts.return?.();
  }
}
