import type { LookupAddress, LookupAllOptions } from 'node:dns';
import type { IncomingHttpHeaders } from 'node:http';
import type { SecureContextOptions } from 'node:tls';

export interface OutboundSettings {
  /** The only hosts that are requested, each with its subdomains, also after a redirect. Absent = any. */
  onlyHosts?: readonly string[];
  /**
   * Exceptions from the refusal of addresses that are not public. An address or CIDR range permits these addresses. A host
   * name permits this host, without subdomains, on loopback and private addresses, but not on link-local, metadata or
   * multicast addresses.
   */
  allow?: readonly string[];
  /** Refuse `http:`. */
  httpsOnly?: boolean;
  /** For name resolution, connection and TLS handshake together. Default 5 s. */
  connectTimeoutMs?: number;
  /** For everything, redirects and body included. Default 10 s. */
  timeoutMs?: number;
  /** Default 16 KiB. */
  maxHeaderBytes?: number;
  /** Counted after decompression. Default 1 MiB. */
  maxResponseBytes?: number;
  /** Default 0: a redirect is returned as the response. */
  maxRedirects?: number;
  tls?: OutboundTls;
  /** Replaces the system's name resolution in tests. */
  resolve?: Resolve;
}

/** `ca` replaces the system's certificate authorities. Verification of the peer cannot be turned off. */
export type OutboundTls = Pick<SecureContextOptions, 'ca' | 'cert' | 'key' | 'passphrase' | 'minVersion'>;

/** The signature of `dns.lookup` for all addresses of a name. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

export type OutboundMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface OutboundRequest {
  method?: OutboundMethod;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Sent as the body, with its content type. */
  json?: unknown;
  signal?: AbortSignal;
  /** Replaces the client's limit for this request. */
  timeoutMs?: number;
}

export interface OutboundResponse {
  /** Any status; the caller decides which are failures. */
  status: number;
  headers: IncomingHttpHeaders;
  /** Decompressed. */
  body: Buffer;
  /** URL of the last request, after redirects. */
  url: string;
  /** The body as UTF-8. */
  text(): string;
  /** @throws OutboundError not_json */
  json(): unknown;
}
