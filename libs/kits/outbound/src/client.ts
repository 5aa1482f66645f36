import { exchange, type ExchangeDeps, type OpenResponse } from './exchange';
import { OutboundError } from './outbound-error';
import { followRedirect, type Hop } from './redirect';
import type { OutboundMethod, OutboundRequest, OutboundResponse, OutboundSettings } from './settings';
import { parseUrl, targetRules } from './target';

const defaultTimeoutMs = 10_000;

const methods: readonly OutboundMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Headers that describe the connection or the message, which only this library may write. */
const ownHeaders: ReadonlySet<string> = new Set([
  ...['host', 'connection', 'keep-alive', 'content-length', 'transfer-encoding', 'te', 'trailer', 'upgrade', 'expect'],
  ...['accept-encoding', 'proxy-authorization', 'proxy-connection'],
]);

export interface OutboundClient {
  /**
   * Requests a URL. Does not retry: only the caller knows whether its request may be repeated.
   *
   * @throws OutboundError when there is no complete response; a status of 400 or more is a response
   */
  request(url: string, request?: OutboundRequest): Promise<OutboundResponse>;
}

/**
 * HTTP client for every URL that comes from a setting, a document or a user. Refuses targets that are not public, bounds time
 * and size, and follows only safe redirects; see docs/security/outbound.md. Keeps no connections open, so it needs no close.
 *
 * Built on Node's HTTP client and ipaddr.js. Existing packages only filter addresses, and incompletely:
 * request-filtering-agent 3 has no exceptions by host name and treats the metadata service of Azure as a public address,
 * ssrf-req-filter has no exceptions, got-ssrf is an LGPL plug-in of got. None limits sizes after decompression,
 * redirects from https to http, or the headers that a new origin receives. undici 8 needs a newer Node than this project.
 *
 * @throws Error for an invalid entry of `allow`
 */
export function createOutboundClient(settings: OutboundSettings = {}): OutboundClient {
  const rules = targetRules(settings);
  const { maxRedirects = 0, resolve, tls } = settings;
  const limits = {
    connectTimeoutMs: settings.connectTimeoutMs ?? 5_000,
    maxHeaderBytes: settings.maxHeaderBytes ?? 16_384,
    maxResponseBytes: settings.maxResponseBytes ?? 1_048_576,
  };
  return {
    request: async (text, request = {}) => {
      const first = firstHop(parseUrl(text), request);
      const { signal, release } = deadline(request.timeoutMs ?? settings.timeoutMs ?? defaultTimeoutMs, request.signal);
      try {
        const deps: ExchangeDeps = { rules, limits, signal, ...(resolve && { resolve }), ...(tls && { tls }) };
        const { hop, response } = await followAll(first, maxRedirects, deps);
        return toResponse(hop, response, await response.read());
      } finally {
        release();
      }
    },
  };
}

async function followAll(
  first: Hop,
  maxRedirects: number,
  deps: ExchangeDeps,
): Promise<{ hop: Hop; response: OpenResponse }> {
  let hop = first;
  for (let redirects = 0; ; redirects++) {
    const response = await exchange(hop, deps);
    if (maxRedirects === 0) return { hop, response };
    try {
      const next = followRedirect(hop, response.status, response.headers.location);
      if (!next) return { hop, response };
      if (redirects === maxRedirects) throw new OutboundError('too_many_redirects', { url: hop.url });
      hop = next;
    } catch (error) {
      response.discard();
      throw error;
    }
    response.discard();
  }
}

function firstHop(url: URL, { method = 'GET', headers = {}, body, json }: OutboundRequest): Hop {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  if (!methods.includes(method) || entries.some(([name]) => ownHeaders.has(name))) {
    throw new OutboundError('invalid_request', { url });
  }
  const content = json === undefined ? body : JSON.stringify(json);
  return {
    url,
    method,
    headers: { ...(json !== undefined && { 'content-type': 'application/json' }), ...Object.fromEntries(entries) },
    body: typeof content === 'string' ? Buffer.from(content) : content,
  };
}

/** One signal for the caller's abort and the time limit. */
function deadline(timeoutMs: number, aborted?: AbortSignal): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const abort = () => controller.abort(new OutboundError('aborted'));
  const timer = setTimeout(() => controller.abort(new OutboundError('timed_out')), timeoutMs);
  aborted?.addEventListener('abort', abort, { once: true });
  if (aborted?.aborted) abort();
  return {
    signal: controller.signal,
    release: () => {
      clearTimeout(timer);
      aborted?.removeEventListener('abort', abort);
    },
  };
}

function toResponse({ url }: Hop, { status, headers }: OpenResponse, body: Buffer): OutboundResponse {
  const text = () => body.toString('utf8');
  return {
    status,
    headers,
    body,
    url: url.href,
    text,
    json: () => {
      try {
        return JSON.parse(text()) as unknown;
      } catch {
        throw new OutboundError('not_json', { url });
      }
    },
  };
}
