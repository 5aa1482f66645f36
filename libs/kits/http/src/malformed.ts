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
 * Answers malformed HTTP in the common error shape, and closes the connection. While another response is in progress it
 * only closes the connection, because a client or proxy would mistake this response for that one or a part of it.
 */
export function answerMalformed(server: Server | TlsServer, answersOf: (socket: Socket) => SocketAnswers): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || !mayAnswer(answersOf(socket))) {
      socket.destroy();
      return;
    }
    const { status, message } = faults[error.code ?? ''] ?? otherFault;
    const violations = [{ in: 'request', field: '', path: '', message }];
    const envelope = new AppError('invalid_body', { violations }).toBody();
    const body = JSON.stringify({ ...envelope, status: Number.parseInt(status, 10) });
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

/** Whether the next response the client expects is that to the malformed request. */
function mayAnswer({ open, last }: SocketAnswers): boolean {
  if (!last || last.req.complete) return open.size === 0;
  // The body of this request is malformed, and its response has not started.
  return !last.headersSent && open.size === 1;
}
