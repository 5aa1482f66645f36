/** Credentials that a NATS URL can contain. A user name without a password is a token, as in other NATS clients. */
export type UrlCredentials = { user: string; pass: string } | { token: string };

export interface ServerList {
  /** The servers without user, password and token, so that they can be logged. */
  servers: string[];
  /** Credentials of the first server that has any: a connection has one identity for all servers. */
  credentials: UrlCredentials | undefined;
}

/** Reads `NATS_URL`: one server or several, separated by commas. The NATS client itself ignores credentials in a URL. */
export function parseServerList(urls: string): ServerList {
  const parsed = urls.split(',').map((url) => parseServer(url.trim()));
  return {
    servers: parsed.map(({ server }) => server),
    credentials: parsed.find(({ credentials }) => credentials)?.credentials,
  };
}

function parseServer(url: string): { server: string; credentials: UrlCredentials | undefined } {
  const scheme = url.includes('://') ? url.slice(0, url.indexOf('://') + 3) : '';
  const rest = url.slice(scheme.length);
  const at = rest.lastIndexOf('@');
  const userInfo = rest.slice(0, Math.max(0, at));
  const colon = userInfo.indexOf(':');
  const server = scheme + rest.slice(at + 1);
  if (userInfo === '') return { server, credentials: undefined };
  if (colon < 0) return { server, credentials: { token: decode(userInfo) } };
  const user = decode(userInfo.slice(0, colon));
  return { server, credentials: { user, pass: decode(userInfo.slice(colon + 1)) } };
}

/** Text that is not percent-encoded is used as is, because an error would contain the password. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
