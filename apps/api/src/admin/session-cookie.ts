import { sessionCookieName } from '@svc/identity';
import type { CookieOptions, Request, Response } from 'express';

/** The name is the specification's, so it cannot carry the `__Host-` prefix; all else is as that prefix asks. */
const optionsOf = (req: Request, secure: boolean): CookieOptions => ({
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
  res.cookie(sessionCookieName, token, { ...optionsOf(req, secure), expires: new Date(expiresAtMs) });
}

export const clearSessionCookie = (req: Request, res: Response, secure: boolean): void =>
  void res.clearCookie(sessionCookieName, optionsOf(req, secure));
