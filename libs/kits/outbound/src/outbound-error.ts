/** Every reason for which a request yields no response. */
export const outboundReasons = {
  invalid_url: 'it is not an absolute URL of at most 8192 characters',
  scheme_refused: 'the URL scheme is not permitted',
  userinfo_refused: 'a URL must not contain a user name or password',
  host_refused: 'the host is not in the list of permitted hosts',
  address_refused: 'the host is not a public address',
  invalid_request: 'the method or a request header is not permitted or not valid',
  name_not_resolved: 'the host name was not resolved',
  connect_timeout: 'no connection within the connect time limit',
  connect_failed: 'the connection failed',
  tls_failed: 'the TLS handshake failed',
  timed_out: 'no complete response within the time limit',
  aborted: 'the caller aborted the request',
  connection_lost: 'the connection ended before the response was complete',
  invalid_response: 'the response is not valid HTTP',
  headers_too_large: 'the response headers are larger than the limit',
  response_too_large: 'the response body is larger than the limit',
  decoding_failed: 'the response body has an unknown or corrupt content encoding',
  redirect_refused: 'the redirect is not permitted',
  too_many_redirects: 'more redirects than the limit',
  not_json: 'the response body is not JSON',
} as const;

export type OutboundReason = keyof typeof outboundReasons;

interface ErrorDetails {
  /** The URL that failed; only its origin is used. */
  url?: URL | undefined;
  /** The address that was refused. */
  address?: string | undefined;
  /** Error code of Node or the system, such as ECONNREFUSED. */
  code?: string | undefined;
}

/**
 * A request without a response. The message names the origin and an error code, never the path, query, headers or body of the
 * request, any of which may be a secret. The refused address is a property and not in the message: otherwise a caller who
 * chooses URLs could enumerate the internal network.
 */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly address: string | undefined;
  readonly code: string | undefined;

  constructor(
    readonly reason: OutboundReason,
    { url, address, code }: ErrorDetails = {},
  ) {
    const origin = url ? `${url.protocol}//${url.host}: ` : '';
    super(`${origin}${outboundReasons[reason]}${code ? ` (${code})` : ''}`);
    this.address = address;
    this.code = code;
  }
}
