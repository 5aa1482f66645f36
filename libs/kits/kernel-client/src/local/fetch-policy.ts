import { createOutboundClient, OutboundError, type Resolve } from '@svc/outbound';
import { unescape } from 'node:querystring';

/** A policy by URL. See docs/reference/policy.md#documents. */
export interface PolicyUrl {
  url: string;
  /** Permitted hosts, including their subdomains. */
  allowlist: readonly string[];
  /** Permits hosts within a private network. */
  allowPrivate: boolean;
  /** Permits https only. */
  production: boolean;
}

/** Name resolution and time limit; tests replace those of production. */
export interface FetchPorts {
  resolve?: Resolve;
  timeoutMs?: number;
}

/** Bytes of the document, or the reason they could not be read. */
export type ReadFile = { ok: true; bytes: Buffer } | { ok: false; fault: string };

const everyNetwork = ['0.0.0.0/0', '::/0'];

/** Fetches the document. Redirects are rejected, because the allowlist names the serving host. */
export async function fetchPolicy(source: PolicyUrl, maxBytes: number, ports: FetchPorts = {}): Promise<ReadFile> {
  const client = createOutboundClient({
    onlyHosts: source.allowlist,
    allow: source.allowPrivate ? everyNetwork : [],
    httpsOnly: source.production,
    maxResponseBytes: maxBytes,
    ...ports,
  });
  const { url, headers } = splitUserinfo(source.url);
  try {
    const { status, body } = await client.request(url, { headers });
    return status === 200 ? { ok: true, bytes: body } : { ok: false, fault: `is answered ${status}, not 200` };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return { ok: false, fault: faultText(error, url, maxBytes) };
  }
}

function faultText(error: OutboundError, url: string, maxBytes: number): string {
  switch (error.reason) {
    case 'invalid_url':
      return 'is not a URL';
    case 'scheme_refused':
      return 'must begin with https://';
    case 'host_refused':
      return `its host ${new URL(url).hostname} is not in SAFETY_POLICY_URL_ALLOWLIST`;
    case 'address_refused':
      return `leads to the private address ${error.address}; SAFETY_POLICY_URL_ALLOW_PRIVATE permits that`;
    case 'response_too_large':
      return `is more than the ${maxBytes} bytes allowed`;
    default:
      return `cannot be fetched (${error.message})`;
  }
}

/** Credentials of the URL become a header, since the client rejects URLs that contain credentials. RFC 7617. */
export function splitUserinfo(text: string): { url: string; headers: Record<string, string> } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (!url.username && !url.password)) return { url: text, headers: {} };
  const credentials = [url.username, url.password].map((part) => unescape(part)).join(':');
  url.username = url.password = '';
  return { url: url.href, headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` } };
}
