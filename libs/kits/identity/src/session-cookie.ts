import { sessionCookieName } from './authenticate';

/** Has the attributes that the `__Host-` prefix requires; the specification fixes a name without the prefix. */
const attributes = (isSecure: boolean): string => `HttpOnly; ${isSecure ? 'Secure; ' : ''}SameSite=Lax`;

/**
 * Value of `Set-Cookie` for a session. See docs/reference/users.md#cookies.
 *
 * @param isSecure browsers send it over TLS only
 */
export const sessionCookie = (
  { token, expiresAtMs }: { token: string; expiresAtMs: number },
  isSecure: boolean,
): string => buildCookie(token, expiresAtMs, isSecure);

/** Value of `Set-Cookie` that removes the session from the browser. */
export const clearedSessionCookie = (isSecure: boolean): string => buildCookie('', 0, isSecure);

const buildCookie = (value: string, expiresAtMs: number, isSecure: boolean): string =>
  `${sessionCookieName}=${value}; Path=/; Expires=${new Date(expiresAtMs).toUTCString()}; ${attributes(isSecure)}`;
