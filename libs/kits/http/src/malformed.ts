import { AppError } from '@svc/contract';
import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { SocketAnswers } from './connections';

const faults: Readonly<Record<string, { status: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: '431 Request Header Fields Too Large', message: 'the headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', message: 'the request did not come in whole in time' },
};
const otherFault = { status: '400 Bad Request', message: 'this is no HTTP request' };

/**
 * Answers bytes that are not HTTP, before any route is known, in the one error shape, and ends the connection. Where another
 * answer is under way it only ends the connection: a client, or a proxy that shares the connection, would take this answer for
 * that one, or for a part of it.
 */
export function answerMalformed(server: Server | TlsServer, answersOf: (socket: Socket) => SocketAnswers): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || !mayAnswer(answersOf(socket))) {
      socket.destroy();
      return;
    }
    const { status, message } = faults[error.code ?? ''] ?? otherFault;
    const violations = [{ in: 'request', field: '', path: '', message }];
    const told = new AppError('invalid_body', { violations }).toBody();
    const body = JSON.stringify({ ...told, status: Number.parseInt(status, 10) });
    const head = [
      `HTTP/1.1 ${status}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${randomBytes(8).toString('hex')}`,
      'X-Content-Type-Options: nosniff',
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  });
}

/** Whether the next answer that the client expects is the one to the malformed bytes. */
function mayAnswer({ open, last }: SocketAnswers): boolean {
  if (!last || last.req.complete) return open.size === 0;
  // The body of this very request is malformed, and nothing has been said to it yet.
  return !last.headersSent && open.size === 1;
}
