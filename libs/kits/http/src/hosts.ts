import { isIP } from 'node:net';

/** Whether a Host header is accepted. */
export type HostCheck = (host: string) => boolean;

/**
 * Accepts the listed names, loopback names and addresses; with none listed, names without a dot too. Prevents
 * DNS rebinding: a page of another site can make its name resolve to this service and is then same-origin for the browser.
 * It cannot do so with an address, or with a name that no public resolver knows.
 *
 * @param listed host names without port. SVC_ALLOWED_HOSTS
 */
export function hostCheck(listed: readonly string[]): HostCheck {
  const names = new Set(listed.map((name) => bareName(name)));
  return (host) => {
    const name = bareName(host);
    if (names.has(name) || isLoopbackName(name) || isIP(name) !== 0) return true;
    return names.size === 0 && /^[a-z0-9_-]+$/.test(name);
  };
}

/** `localhost`, names below it, and loopback addresses, as URLs spell them. */
export const isLoopbackName = (name: string): boolean =>
  name === 'localhost' ||
  name.endsWith('.localhost') ||
  name === '::1' ||
  name === '[::1]' ||
  /^127(\.\d{1,3}){3}$/.test(name);

/** In lower case, without port, brackets and the final dot. */
function bareName(host: string): string {
  const lower = host.trim().toLowerCase();
  const inBrackets = /^\[([^\]]*)\](?::\d+)?$/.exec(lower)?.[1];
  return inBrackets ?? lower.replace(/:\d+$/, '').replace(/\.$/, '');
}
