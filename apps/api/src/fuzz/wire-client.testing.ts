import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';

/** A request as bytes on the wire: nothing of it is mended by a client library. */
export interface WireRequest {
  method: string;
  /** Path and query, percent-encoded. */
  target: string;
  headers: Readonly<Record<string, string>>;
  body?: Uint8Array;
  /** Sends the body in chunks, without saying its length. */
  isChunked?: boolean;
}

export interface WireAnswer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 8 });
/** Kept connections would hold the test run open. */
export const closeConnections = (): void => agent.destroy();

/** Sends a request and reads its answer, also when the service answers before it has read all of the body. */
export function send(url: string, { method, target, headers, body, isChunked }: WireRequest): Promise<WireAnswer> {
  const { hostname, port } = new URL(url);
  // Said in both cases: left to itself, the client sends the body of a GET as if it were another request.
  const length = isChunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': String(body?.length ?? 0) };
  const type = body ? { 'Content-Type': 'application/json' } : {};
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const sending = request(
      { agent, hostname, port, method, path: target, headers: { ...type, ...headers, ...(body && length) } },
      (response) => {
        isAnswered = true;
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      },
    );
    sending.on('error', (error) => isAnswered || reject(error));
    // Two writes without a length make two chunks.
    if (body && isChunked) sending.write(body.subarray(0, body.length / 2));
    sending.end(body && isChunked ? body.subarray(body.length / 2) : body);
  });
}

/** Opens a connection, writes bytes and leaves it open. */
export const begin = (url: string, bytes: string | Uint8Array): Socket => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(bytes);
  return socket;
};

/** Writes bytes to a connection of its own and collects what comes back until the service closes it or falls silent. */
export function exchange(
  url: string,
  bytes: string | Uint8Array,
  silentMs = 100,
): Promise<{ text: string; isClosed: boolean }> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = begin(url, bytes);
    const done = (isClosed: boolean) => {
      socket.destroy();
      resolve({ text: Buffer.concat(chunks).toString('latin1'), isClosed });
    };
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      // A keep-alive connection says nothing more; the pause is only for how long to listen for a second answer.
      socket.setTimeout(silentMs, () => done(false));
    });
    socket.on('close', () => done(true));
  });
}
