import { syslogFrame, type Origin, type StoredText } from '@svc/audit-formats';
import { isRecord } from '@svc/json';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Delivery, Receiver } from './receiver';

export interface SyslogTarget {
  host: string;
  port: number;
  tls: boolean;
  /** PEM; undefined = those of the system. */
  ca?: string | undefined;
  origin: Origin;
  /** For the whole delivery. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;

/**
 * RFC 5424 messages over TCP or TLS, framed by their length (RFC 6587, RFC 5425).
 *
 * Syslog acknowledges nothing. Each delivery has a connection of its own and counts once the receiver has closed its side after
 * ours: its system then has every byte, which is all that the protocol can show. The packages for syslog on npm keep one
 * connection and report nothing, or frame by line breaks only.
 */
export const syslogReceiver = (target: SyslogTarget): Receiver => ({
  maxEvents: 500,
  deliver: (events) => deliver(target, events),
});

function deliver(target: SyslogTarget, events: readonly StoredText[]): Promise<Delivery> {
  const frames = events.map((event) => syslogFrame(event, target.origin)).join('');
  return new Promise((resolve) => {
    const socket = open(target);
    let isSent = false;
    const finish = (delivery: Delivery) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(delivery);
    };
    const fail = (reason: string) => finish({ kind: 'unavailable', reason });
    const timer = setTimeout(
      () => fail(isSent ? 'the receiver did not close the connection in time' : 'the receiver did not accept in time'),
      target.timeoutMs ?? TIMEOUT_MS,
    );
    socket.once(target.tls ? 'secureConnect' : 'connect', () => socket.end(frames, () => void (isSent = true)));
    socket.on('error', (error) => fail(`the connection failed${describeCode(error)}`));
    // Receivers send nothing; an unread socket would not notice its end.
    socket.resume();
    socket.once('close', (hadError) => {
      if (!hadError) finish(isSent ? { kind: 'delivered' } : { kind: 'unavailable', reason: 'the connection ended' });
    });
  });
}

const open = ({ host, port, tls, ca }: SyslogTarget): Socket =>
  tls
    ? connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }), ...(ca !== undefined && { ca }) })
    : connectTcp({ host, port });

const describeCode = (error: unknown): string =>
  isRecord(error) && typeof error['code'] === 'string' ? ` (${error['code']})` : '';
