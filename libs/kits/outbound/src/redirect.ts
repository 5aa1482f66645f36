import { OutboundError } from './outbound-error';
import type { OutboundMethod } from './settings';

/** One request on the wire. */
export interface Hop {
  url: URL;
  method: OutboundMethod;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array | undefined;
}

/** Headers that are sent to another origin. Any other may authenticate the caller: Authorization, cookies, API keys. */
const headersForAnyOrigin: ReadonlySet<string> = new Set(['accept', 'accept-language', 'content-type', 'user-agent']);

const headersOfBody: ReadonlySet<string> = new Set(['content-type', 'content-language', 'content-location']);

/**
 * Returns the request that follows a redirect, or undefined if the response is not a redirect. RFC 9110, 15.4.
 *
 * @throws OutboundError redirect_refused: from https to http, to text that is not a URL, or with a body to another origin
 */
export function followRedirect(from: Hop, status: number, location: string | undefined): Hop | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined;
  if (!URL.canParse(location, from.url.href)) throw new OutboundError('redirect_refused', { url: from.url });
  const url = new URL(location, from.url);
  const isDowngrade = from.url.protocol === 'https:' && url.protocol === 'http:';
  if (isDowngrade) throw new OutboundError('redirect_refused', { url: from.url, code: 'https to http' });

  const becomesGet = (status === 303 && from.method !== 'HEAD') || (status < 303 && from.method === 'POST');
  const method = becomesGet ? 'GET' : from.method;
  const body = becomesGet ? undefined : from.body;
  const isSameOrigin = url.origin === from.url.origin;
  if (body && !isSameOrigin) {
    throw new OutboundError('redirect_refused', { url: from.url, code: 'request body to another origin' });
  }
  const headers = Object.entries(from.headers).filter(
    ([name]) => (isSameOrigin || headersForAnyOrigin.has(name)) && !(becomesGet && headersOfBody.has(name)),
  );
  return { url, method, headers: Object.fromEntries(headers), body };
}
