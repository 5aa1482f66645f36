/** Cookie that binds a sign-in at a provider to the browser that began it. */
export interface PreLoginCookie {
  /** The Set-Cookie header. */
  set(secret: string, maxAgeSec: number): string;
  clear(): string;
  /** The secret in a Cookie header; undefined also when there are two, of which one may be planted. */
  read(header: string | undefined): string | undefined;
}

/**
 * @param secure browsers reach this gateway over TLS; then the prefix of the name keeps other hosts from setting the cookie
 * @param crossSite the provider returns by a form, with which browsers send only cookies of SameSite=None. They accept these
 *   without TLS from localhost only
 */
export function preLoginCookie(base: string, { secure, crossSite }: { secure: boolean; crossSite: boolean }): PreLoginCookie {
  const name = secure ? `__Host-${base}` : base;
  const site = crossSite ? 'SameSite=None; Secure' : `SameSite=Lax${secure ? '; Secure' : ''}`;
  const build = (value: string, maxAgeSec: number) => `${name}=${value}; Max-Age=${maxAgeSec}; Path=/; HttpOnly; ${site}`;
  return {
    set: build,
    clear: () => build('', 0),
    read: (header = '') => {
      const pairs = header.split(';').map((part) => part.trim());
      const [first, second] = pairs.filter((pair) => pair.startsWith(`${name}=`));
      return second === undefined ? first?.slice(name.length + 1) : undefined;
    },
  };
} // prettier-ignore
