import type { OutboundClient, OutboundMethod } from '@svc/outbound';

interface FetchOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal | undefined;
}

/** The outbound client as `fetch`, so that the library requests no address that the client refuses. Follows no redirects. */
export const outboundFetch =
  (client: OutboundClient) =>
  async (url: string, { method = 'GET', headers = {}, body, signal }: FetchOptions = {}): Promise<Response> => {
    const content = body === undefined || body === null ? undefined : toContent(body);
    const response = await client.request(url, {
      method: method as OutboundMethod,
      headers: withoutOwn(headers),
      ...(content !== undefined && { body: content }),
      ...(signal && { signal }),
    });
    const sent = Object.entries(response.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as [string, string]],
    );
    // The client has decompressed the body.
    const kept = sent.filter(([name]) => name !== 'content-encoding' && name !== 'content-length');
    const isEmpty = [204, 205, 304].includes(response.status);
    return new Response(isEmpty ? null : new Uint8Array(response.body), { status: response.status, headers: kept });
  };

/** Headers that the client writes itself. */
const withoutOwn = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(accept-encoding|content-length|host)$/i.test(name)),
  );

function toContent(body: unknown): string | Uint8Array {
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('this kind of body is not sent to providers');
}
