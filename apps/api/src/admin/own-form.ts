import type { IncomingMessage } from 'node:http';

/**
 * Whether a form was sent by a page of this very origin. Stricter than the check of the JSON routes: no other origin, not
 * even an allowed one, has a reason to sign somebody in or out. Browsers say `Sec-Fetch-Site` over TLS and loopback and
 * `Origin` with every form; a request with neither comes from no browser that is in use. Quality: CSRF.
 */
export function isOwnForm({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}
