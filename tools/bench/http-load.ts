import { connect, type Socket } from 'node:net';

/** A response of a local server; `body` as text. */
export interface HttpAnswer {
  status: number;
  body: string;
}

/** The bytes of one request, built once and sent many times, to keep the generator cheap. */
export function httpRequest(
  method: 'GET' | 'POST',
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Buffer {
  const all = {
    Host: '127.0.0.1',
    ...headers,
    ...(body !== undefined && {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
    }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`);
}

const headEnd = Buffer.from('\r\n\r\n');

/**
 * One kept-alive connection with one request in flight. It parses responses of this repository's servers: a length and a
 * body. Node's own client costs five times as much CPU, which a small machine would take from the server under test.
 */
class HttpConnection {
  private waiting: { resolve(answer: HttpAnswer): void; reject(error: Error): void } | undefined;
  private received: Buffer = Buffer.alloc(0);
  private broken: Error | undefined;

  private constructor(private readonly socket: Socket) {
    socket.setNoDelay(true);
    socket.on('data', (data) => this.read(data));
    socket.once('error', (error) => this.fail(error));
    socket.once('close', () => this.fail(new Error('the server closed the connection')));
  }

  static open = (port: number) =>
    new Promise<HttpConnection>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.off('error', reject);
        resolve(new HttpConnection(socket));
      });
      socket.once('error', reject);
    });

  /** @throws Error when the connection breaks or the response cannot be parsed */
  send(request: Buffer): Promise<HttpAnswer> {
    if (this.broken) return Promise.reject(this.broken);
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.socket.write(request);
    });
  }

  close(): void {
    this.waiting = undefined;
    this.socket.destroy();
  }

  private read(data: Buffer): void {
    this.received = this.received.length === 0 ? data : Buffer.concat([this.received, data]);
    const end = this.received.indexOf(headEnd);
    if (end < 0) return;
    const head = this.received.toString('latin1', 0, end);
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    if (length === undefined) return this.fail(new Error(`a response without a length:\n${head}`));
    const from = end + headEnd.length;
    const to = from + Number(length);
    if (this.received.length < to) return;
    const answer = { status: Number(head.slice(9, 12)), body: this.received.toString('utf8', from, to) };
    this.received = this.received.subarray(to);
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.resolve(answer);
  }

  private fail(error: Error): void {
    this.broken ??= error;
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.reject(error);
  }
}

/** Kept-alive connections with one request in flight each. */
export class HttpLoad {
  private constructor(private readonly connections: readonly HttpConnection[]) {}

  static async open(port: number, connections: number): Promise<HttpLoad> {
    return new HttpLoad(await Promise.all(Array.from({ length: connections }, () => HttpConnection.open(port))));
  }

  /** Sends one request on the first connection. */
  async one(request: Buffer): Promise<HttpAnswer> {
    const [first] = this.connections;
    if (!first) throw new Error('a load needs at least one connection');
    return first.send(request);
  }

  /**
   * Runs one act after another on every connection, until `count` have been started in all, and all have ended.
   *
   * @param act one closed loop: it may send several requests
   */
  async run(count: number, act: (send: (request: Buffer) => Promise<HttpAnswer>, i: number) => Promise<void>) {
    let begun = 0;
    await Promise.all(
      this.connections.map(async (connection) => {
        const send = (request: Buffer) => connection.send(request);
        while (begun < count) await act(send, begun++);
      }),
    );
  }

  close(): void {
    for (const connection of this.connections) connection.close();
  }
}
