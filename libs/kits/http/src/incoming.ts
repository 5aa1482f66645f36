import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { parse as parseQuery } from 'node:querystring';
import { clientAddressBehind, proxyCheck } from './client-address';
import { openExchange, type Exchange } from './exchange';

/** A request with its response. */
export interface Incoming {
  req: IncomingMessage;
  res: ServerResponse;
  exchange: Exchange;
  /** As sent, without the query. */
  path: string;
  /** After the question mark; '' when there is none. */
  search: string;
  /** The client's address, through trusted proxies only. */
  ip: string;
  /** Whether the client uses TLS, as far as this server and trusted proxies know. */
  isSecure: boolean;
}

/** Parts of a request, computed once. @param trustedProxies proxies whose X-Forwarded-For is trusted */
export function incomingFrom(
  trustedProxies: readonly string[],
): (req: IncomingMessage, res: ServerResponse) => Incoming {
  const getClientAddress = clientAddressBehind(trustedProxies);
  const isProxy = proxyCheck(trustedProxies);
  // The address of a connection does not change, and parsing it costs more than finding its route.
  const peers = new WeakMap<Socket, string>();
  const getAddress = (req: IncomingMessage): string => {
    const forwardedFor = trustedProxies.length > 0 ? getHeader(req, 'x-forwarded-for') : undefined;
    if (forwardedFor !== undefined) return getClientAddress(req.socket.remoteAddress, forwardedFor);
    const known = peers.get(req.socket) ?? getClientAddress(req.socket.remoteAddress, undefined);
    // A closed connection has no address any more.
    if (known !== '') peers.set(req.socket, known);
    return known;
  };
  return (req, res) => {
    const { url = '/' } = req;
    const mark = url.indexOf('?');
    const ip = getAddress(req);
    return {
      req,
      res,
      exchange: openExchange(req, ip),
      path: mark < 0 ? url : url.slice(0, mark),
      search: mark < 0 ? '' : url.slice(mark + 1),
      ip,
      isSecure: isEncrypted(req.socket) || (trustedProxies.length > 0 && isForwardedSecure(req, isProxy)),
    };
  };
}

const isEncrypted = (socket: Socket): boolean => 'encrypted' in socket && socket.encrypted === true;

/** A trusted proxy reports the protocol of its client; of several, the last one is that of the proxy next to this server. */
function isForwardedSecure(req: IncomingMessage, isProxy: (address: string) => boolean): boolean {
  const protocols = getHeader(req, 'x-forwarded-proto')?.split(',') ?? [];
  return protocols.at(-1)?.trim().toLowerCase() === 'https' && isProxy(req.socket.remoteAddress ?? '');
}

const noQuery: Readonly<Record<string, unknown>> = Object.freeze({});

/** Parameters after the question mark; a repeated parameter is a list. */
export const getQuery = ({ search }: Incoming): Readonly<Record<string, unknown>> =>
  search === '' ? noQuery : parseQuery(search);

/** A request header by name in any case; repeated headers are joined as by Node. */
export function getHeader({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : value;
}
