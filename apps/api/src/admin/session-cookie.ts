import { sessionCookieName } from '@svc/identity';
import type { CookieOptions, Request, Response } from 'express';

/** Has the attributes that the `__Host-` prefix requires; the specification fixes a name without the prefix. */
const cookieOptions = (req: Request, secure: boolean): CookieOptions => ({
  httpOnly: true,
  sameSite: 'lax',
  path: '/',
  secure: secure || req.secure,
});

/** See docs/reference/http.md#authentication. */
export function setSessionCookie(
  req: Request,
  res: Response,
  { token, expiresAtMs, secure }: { token: string; expiresAtMs: number; secure: boolean },
): void {
  res.cookie(sessionCookieName, token, { ...cookieOptions(req, secure), expires: new Date(expiresAtMs) });
}

export const clearSessionCookie = (req: Request, res: Response, secure: boolean): void =>
  void res.clearCookie(sessionCookieName, cookieOptions(req, secure));
