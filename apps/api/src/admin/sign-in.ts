import { toSignInAct } from '@svc/audit';
import { AppError, type Caller } from '@svc/contract';
import { addressBucket, getClientAddress, mayUse } from '@svc/http';
import { bareKey, sessionCookies, sha256 } from '@svc/identity';
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { adminAccess } from './admit';
import type { AdminDeps } from './deps';
import { isOwnForm } from './own-form';
import { sendPage } from './page';
import { clearSessionCookie, setSessionCookie } from './session-cookie';
import { signInPage, signOutPage } from './sign-in-page';

/**
 * Sign-in attempts per minute, per address and per key (by its digest), so that attempts with one key are limited
 * regardless of the number of addresses. Further attempts are rejected until the minute ends; there is no lockout.
 */
export const signInTries = 10;
const windowSec = 60;

const home = '/admin/queues';
/** The same response to every failed sign-in, so that it reveals nothing about the key. */
const refused =
  'This does not open the admin pages. It takes an API key that is valid now and has the role admin; a tenant, if you name one, must be one the key may act for.';

const formBody = express.urlencoded({ extended: false, limit: '8kb', parameterLimit: 10 });

/** `/admin/login` and `/admin/logout`. See docs/reference/http.md#authentication. */
export function signIn(deps: AdminDeps): express.Router {
  const router = express.Router({ caseSensitive: true });
  const attempts = (keyPrefix: string) =>
    new RateLimiterRedis({
      storeClient: deps.store.redis,
      keyPrefix,
      points: signInTries,
      duration: windowSec,
      rejectIfRedisNotReady: true,
    });
  const ofAddress = attempts('svc:rl:signin');
  const ofKey = attempts('svc:rl:signin-key');
  router.get('/login', (req, res) => {
    const next = ownPage(req.query['next']);
    sendPage(res, 200, signInPage(next ? { next } : {}));
  });
  router.post(
    '/login',
    onlyOwnForms,
    limited(ofAddress, getAddressBucket),
    form,
    limited(ofKey, getKeyDigest),
    async (req, res) => {
      const { api_key: key, tenant, next } = readFields(req.body);
      const caller = await checkKey(key, tenant, deps);
      if (!caller) {
        deps.surface.onRefused?.({ code: 'unauthorized', credential: 'api_key', method: 'POST', ...getOrigin(req) });
        return sendPage(res, 401, signInPage({ problem: refused, tenant, next: ownPage(next) ?? '' }));
      }
      const session = { keyDigest: sha256(key), tenant: caller.tenant };
      await recorded(req, deps, 'auth.sign_in', caller, () => startSession(req, res, deps, session));
      await Promise.all([ofAddress.delete(getAddressBucket(req)), ofKey.delete(getKeyDigest(req))]);
      res.redirect(303, ownPage(next) ?? home);
    },
  );
  router.get('/logout', (_req, res) => sendPage(res, 200, signOutPage));
  router.post('/logout', onlyOwnForms, async (req, res) => {
    await signOut(req, deps);
    clearSessionCookie(req, res, deps.secureCookies);
    res.redirect(303, '/admin/login');
  });
  return router;
}

const onlyOwnForms: RequestHandler = (req, _res, next) =>
  next(isOwnForm(req) ? undefined : new AppError('origin_not_allowed'));

const getAddressBucket = (req: Request): string => addressBucket(getClientAddress(req));
const getKeyDigest = (req: Request): string => sha256(readFields(req.body).api_key).slice(0, 16);

const limited =
  (limiter: RateLimiterRedis, bucketOf: (req: Request) => string): RequestHandler =>
  async (req, res, next) => {
    try {
      await limiter.consume(bucketOf(req));
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      const waitSec = Math.max(1, Math.ceil(refusal.msBeforeNext / 1_000));
      res.setHeader('Retry-After', String(waitSec));
      return sendPage(res, 429, signInPage({ problem: `Too many tries. Try again in ${waitSec} s.` }));
    }
    next();
  };

/** Express' form parser, with its errors mapped to ours. */
const form: RequestHandler = (req: Request, res: Response, next: NextFunction) =>
  formBody(req, res, (error: unknown) => {
    if (error === undefined) return next();
    const tooLarge = typeof error === 'object' && error !== null && 'status' in error && error.status === 413;
    next(new AppError(tooLarge ? 'request_too_large' : 'invalid_body'));
  });

function readFields(body: unknown): { api_key: string; tenant: string; next: string } {
  const sent = new Map(Object.entries(typeof body === 'object' && body !== null ? body : {}));
  const field = (name: string): string => {
    const value: unknown = sent.get(name);
    return typeof value === 'string' ? value.trim() : '';
  };
  return { api_key: bareKey(field('api_key')), tenant: field('tenant'), next: field('next') };
}

/** @returns undefined for any failure */
async function checkKey(apiKey: string, tenant: string, { surface }: AdminDeps): Promise<Caller | undefined> {
  const outcome = await surface.authenticate({ apiKey, ...(tenant && { tenant }) });
  if (outcome.kind === 'refused') return undefined;
  const { caller } = outcome;
  // Only keys can open a session: one opened by a session token would outlive that session.
  return caller.source === 'api_key' && mayUse(caller, adminAccess, surface.gate) ? caller : undefined;
}

/** Always opens a new session and ends the previous one of the browser, which an attacker may have planted. */
async function startSession(
  req: Request,
  res: Response,
  deps: AdminDeps,
  session: { keyDigest: string; tenant: string },
): Promise<void> {
  await endSession(req, deps);
  const made = await deps.sessions.create(session);
  setSessionCookie(req, res, { ...made, secure: deps.secureCookies });
}

/** A session that has ended before has no caller, and ending it is not recorded. */
async function signOut(req: Request, deps: AdminDeps): Promise<void> {
  const outcome = await deps.surface.authenticate({ cookie: req.headers.cookie });
  const end = () => endSession(req, deps);
  if (outcome.kind === 'refused' || !outcome.byCookie) return end();
  return recorded(req, deps, 'auth.sign_out', outcome.caller, end);
}

/** Runs what opens or ends a session, and records it in the audit chain of the caller's tenant. @throws store_unavailable */
function recorded(
  req: Request,
  { surface }: AdminDeps,
  action: 'auth.sign_in' | 'auth.sign_out',
  caller: Caller,
  run: () => Promise<void>,
): Promise<void> {
  return surface.audited ? surface.audited(caller.tenant, toSignInAct(action, caller, getOrigin(req)), run) : run();
}

const getOrigin = (req: Request) => ({
  path: `${req.baseUrl}${req.path}`,
  ip: getClientAddress(req),
  requestId: String(req.res?.getHeader('X-Request-Id') ?? ''),
});

async function endSession(req: Request, { sessions }: AdminDeps): Promise<void> {
  for (const token of sessionCookies(req.headers.cookie)) await sessions.end(token);
}

/** A redirect target after signing in: a local path that no browser resolves to another host. */
export const ownPage = (path: unknown): string | undefined =>
  typeof path === 'string' && /^\/admin\/(queues|jobs)(\/[\w.~%:-]+)*\/?$/.test(path) ? path : undefined;
