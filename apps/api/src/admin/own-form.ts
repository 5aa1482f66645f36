import type { IncomingMessage } from 'node:http';

/**
 * Whether a form was sent by a page of this origin. Stricter than the check of the JSON routes: no other origin, even an
 * allowed one, may sign users in or out. Current browsers send `Sec-Fetch-Site` over TLS and on loopback, and `Origin` with
 * every form.
 */
export function isOwnForm({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}
