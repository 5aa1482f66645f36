import { toSignInAct } from '@svc/audit';
import { AppError } from '@svc/contract';
import { getClientAddress, mayUse } from '@svc/http';
import { clearedSessionCookie, sessionCookie } from '@svc/identity';
import { endNamedSessions, signIn as signInTo, type SignedIn, type SignInRequest } from '@svc/users';
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { adminAccess } from './admit';
import type { AdminDeps } from './deps';
import { isOwnForm } from './own-form';
import { sendPage } from './page';
import { signInPage, signOutPage, type SignInView } from './sign-in-page';

const home = '/admin/queues';
/** The same response to every failed sign-in, so that it reveals nothing about the account or key. */
const refused =
  'This does not open the admin pages. They take a password or an API key that is valid now and has the role admin; a tenant, if you name one, must be that of the user, or one the key may act for.';

const formBody = express.urlencoded({ extended: false, limit: '8kb', parameterLimit: 10 });

/** `/admin/login` and `/admin/logout`. See docs/reference/users.md#sign-in. */
export function signIn(deps: AdminDeps): express.Router {
  const router = express.Router({ caseSensitive: true });
  router.get('/login', async (req, res) => {
    const next = ownPage(req.query['next']);
    await sendSignIn(req, res, deps, 200, next ? { next } : {});
  });
  router.post('/login', onlyOwnForms, form, async (req, res) => {
    const { next, ...entered } = readFields(req.body);
    const target = ownPage(next);
    const { gate } = deps.surface;
    let signedIn: SignedIn;
    try {
      signedIn = await signInTo(deps.users, entered, getOrigin(req), (role) => mayUse({ role }, adminAccess, gate));
    } catch (error) {
      return sendRefusal(req, res, deps, error, { ...entered, next: target ?? '' });
    }
    // Also ends a session that an attacker may have planted in the browser.
    await endNamedSessions(deps.users, { cookie: req.headers.cookie });
    res.append('Set-Cookie', sessionCookie(signedIn, isSecure(req, deps)));
    res.redirect(303, target ?? home);
  });
  router.get('/logout', (_req, res) => sendPage(res, 200, signOutPage));
  router.post('/logout', onlyOwnForms, async (req, res) => {
    await signOut(req, deps);
    res.append('Set-Cookie', clearedSessionCookie(isSecure(req, deps)));
    res.redirect(303, '/admin/login');
  });
  return router;
}

const onlyOwnForms: RequestHandler = (req, _res, next) =>
  next(isOwnForm(req) ? undefined : new AppError('origin_not_allowed'));

const isSecure = (req: Request, { secureCookies }: AdminDeps): boolean => secureCookies || req.secure;

/** The page leads to the identity providers as well, where there are any. */
async function sendSignIn(
  req: Request,
  res: Response,
  { users }: AdminDeps,
  status: number,
  view: Omit<SignInView, 'providers'>,
): Promise<void> {
  const { oidc_login_url: oidc, saml_login_url: saml } = await users.sso();
  // With its origin: a path would be one of SVC_AUTH_REDIRECT_URL, which may be another application.
  const back = encodeURIComponent(`${req.protocol}://${req.get('host')}${view.next || home}`);
  const providers = [
    ...(oidc ? [{ title: 'Sign in with single sign-on', href: `${oidc}?redirect=${back}` }] : []),
    ...(saml ? [{ title: 'Sign in with SAML', href: `${saml}?redirect=${back}` }] : []),
  ];
  sendPage(res, status, signInPage({ ...view, providers }));
}

/** @throws what is no refusal of the sign-in */
async function sendRefusal(
  req: Request,
  res: Response,
  deps: AdminDeps,
  error: unknown,
  { username, tenant, next }: Fields,
): Promise<void> {
  if (!(error instanceof AppError)) throw error;
  const { status } = error.toBody();
  if (status === 429) {
    const waitSec = error.headers['Retry-After'] ?? '1';
    res.setHeader('Retry-After', waitSec);
    return sendSignIn(req, res, deps, 429, { problem: `Too many tries. Try again in ${waitSec} s.` });
  }
  if (status !== 401 && status !== 403) throw error;
  const needsCode = error.errorCode === 'auth_totp_required';
  const problem = needsCode ? 'Enter the password again, with a code of your authenticator.' : refused;
  await sendSignIn(req, res, deps, 401, { problem, username, tenant, next });
}

/** Express' form parser, with its errors mapped to ours. */
const form: RequestHandler = (req: Request, res: Response, next: NextFunction) =>
  formBody(req, res, (error: unknown) => {
    if (error === undefined) return next();
    const tooLarge = typeof error === 'object' && error !== null && 'status' in error && error.status === 413;
    next(new AppError(tooLarge ? 'request_too_large' : 'invalid_body'));
  });

type Fields = Pick<SignInRequest, 'username'> & { tenant: string; next: string };

/** A recovery code is entered in the place of a code, and is longer. */
const MAX_CODE_CHARS = 8;

function readFields(body: unknown): Fields & SignInRequest {
  const sent = new Map(Object.entries(typeof body === 'object' && body !== null ? body : {}));
  const field = (name: string): string => {
    const value: unknown = sent.get(name);
    return typeof value === 'string' ? value : '';
  };
  const code = field('code').trim();
  const [username, tenant, next] = [field('username').trim(), field('tenant').trim(), field('next').trim()];
  return {
    ...{ username, tenant, next, password: field('api_key') },
    ...(code.length > MAX_CODE_CHARS ? { recoveryCode: code } : { totp: code }),
  };
}

/** A session that has ended before has no caller, and ending it is not recorded. */
async function signOut(req: Request, { surface, users }: AdminDeps): Promise<void> {
  const outcome = await surface.authenticate({ cookie: req.headers.cookie });
  const end = () => endNamedSessions(users, { cookie: req.headers.cookie });
  if (outcome.kind === 'refused' || !outcome.byCookie) return end();
  const act = toSignInAct('auth.sign_out', outcome.caller, getOrigin(req));
  return users.audited(outcome.caller.tenant, act, end);
}

const getOrigin = (req: Request) => ({
  path: `${req.baseUrl}${req.path}`,
  ip: getClientAddress(req),
  requestId: String(req.res?.getHeader('X-Request-Id') ?? ''),
});

/** A redirect target after signing in: a local path that no browser resolves to another host. */
export const ownPage = (path: unknown): string | undefined =>
  typeof path === 'string' && /^\/admin\/(queues|jobs)(\/[\w.~%:-]+)*\/?$/.test(path) ? path : undefined;
