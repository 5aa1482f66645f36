import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';

/** A request that is sent as raw bytes, without normalization by a client library. */
export interface WireRequest {
  method: string;
  /** Path and query, percent-encoded. */
  target: string;
  headers: Readonly<Record<string, string>>;
  body?: Uint8Array;
  /** Sends the body in chunks, without a Content-Length. */
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

/** Sends a request and reads its response, also if the service responds before it has read the whole body. */
export function send(url: string, { method, target, headers, body, isChunked }: WireRequest): Promise<WireAnswer> {
  const { hostname, port } = new URL(url);
  // Set in both cases: otherwise the client would send the body of a GET as a second request.
  const length = isChunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': String(body?.length ?? 0) };
  const type = body ? { 'Content-Type': 'application/json' } : {};
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const sending = request(
      { agent, hostname, port, method, path: target, headers: { ...type, ...headers, ...(body && length) } },
      (response) => {
        isAnswered = true;
        // Ends with the job or run.
        if (response.headers['content-type']?.startsWith('text/event-stream')) {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: '' });
          response.destroy();
          return;
        }
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

/** Writes bytes to a new connection and collects the response until the service closes it or stops sending. */
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
      // A keep-alive connection stays open; the pause only bounds the wait for a second response.
      socket.setTimeout(silentMs, () => done(false));
    });
    socket.on('close', () => done(true));
  });
}
