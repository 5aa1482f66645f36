import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { OutboundError, type OutboundReason } from './outbound-error';
import { acceptedEncodings, readBody } from './read-body';
import type { Hop } from './redirect';
import type { OutboundSettings } from './settings';
import { bareHost, checkedLookup, checkTarget, type TargetRules } from './target';

export interface ExchangeLimits {
  connectTimeoutMs: number;
  maxHeaderBytes: number;
  maxResponseBytes: number;
}

export interface ExchangeDeps extends Pick<OutboundSettings, 'resolve' | 'tls'> {
  rules: TargetRules;
  limits: ExchangeLimits;
  signal: AbortSignal;
}

/** A response whose body has not been read. `read` or `discard` ends its connection. */
export interface OpenResponse {
  status: number;
  headers: IncomingMessage['headers'];
  read(): Promise<Buffer>;
  discard(): void;
}

/**
 * Sends one request over a new connection. Without a pool every request checks the address it connects to; without the global
 * agent no proxy of the environment is used.
 *
 * @throws OutboundError
 */
export async function exchange(hop: Hop, deps: ExchangeDeps): Promise<OpenResponse> {
  const { url, method } = hop;
  checkTarget(url, deps.rules);
  let phase: OutboundReason = 'connect_failed';
  const setPhase = (next: OutboundReason): void => void (phase = next);
  const fail = (error: unknown): never => {
    throw toOutboundError(error, url, phase, deps.signal);
  };
  const response = await open(hop, deps, setPhase).catch(fail);
  const hasBody = method !== 'HEAD' && response.statusCode !== 204 && response.statusCode !== 304;
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    discard: () => void response.destroy(),
    read: async () => {
      try {
        return hasBody ? await readBody(response, url, deps.limits.maxResponseBytes) : Buffer.alloc(0);
      } catch (error) {
        return fail(error);
      } finally {
        response.destroy();
      }
    },
  };
}

function open(hop: Hop, deps: ExchangeDeps, setPhase: (phase: OutboundReason) => void): Promise<IncomingMessage> {
  const { url, method, body } = hop;
  const { rules, resolve, limits, signal, tls } = deps;
  const isTls = url.protocol === 'https:';
  const options: RequestOptions = {
    agent: false,
    host: bareHost(url),
    path: url.pathname + url.search,
    method,
    headers: { 'accept-encoding': acceptedEncodings, ...hop.headers },
    lookup: checkedLookup(url, rules, resolve),
    maxHeaderSize: limits.maxHeaderBytes,
    insecureHTTPParser: false,
    signal,
    ...(url.port && { port: url.port }),
  };
  return new Promise((done, fail) => {
    // Throws for a header value that HTTP does not permit.
    const request = isTls ? requestHttps({ ...options, ...tls, rejectUnauthorized: true }) : requestHttp(options);
    request.on('error', fail);
    request.on('response', done);
    request.on('socket', (socket: Socket) => {
      const expire = () => void request.destroy(new OutboundError('connect_timeout', { url }));
      const timer = setTimeout(expire, limits.connectTimeoutMs);
      const connected = () => {
        clearTimeout(timer);
        setPhase('connection_lost');
      };
      socket.once('connect', isTls ? () => setPhase('tls_failed') : connected);
      socket.once('secureConnect', connected);
      socket.once('close', () => clearTimeout(timer));
    });
    request.end(body);
  });
}

function toOutboundError(error: unknown, url: URL, phase: OutboundReason, signal: AbortSignal): OutboundError {
  if (signal.aborted && signal.reason instanceof OutboundError) return signal.reason;
  if (error instanceof OutboundError) return error;
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined;
  if (code === 'HPE_HEADER_OVERFLOW') return new OutboundError('headers_too_large', { url });
  if (code?.startsWith('HPE_')) return new OutboundError('invalid_response', { url, code });
  if (code?.startsWith('ERR_INVALID_') || code === 'ERR_UNESCAPED_CHARACTERS') {
    return new OutboundError('invalid_request', { url, code });
  }
  return new OutboundError(phase, { url, code });
}
