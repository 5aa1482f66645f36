import { toSignInAct } from '@svc/audit';
import { AppError } from '@svc/contract';
import { addressBucket } from '@svc/http';
import { bareKey, findTotpStep, hashRecoveryCode, sha256, type CreatedSession } from '@svc/identity';
import type { Caller } from '@svc/contract';
import type { StoredFactor, StoredUser, UserRecord } from '@svc/store';
import { buildSignInAct, changeUser, type RequestOrigin, type UserDeps } from './user-deps';

/** What was entered. Absent and empty are equivalent. */
export interface SignInRequest {
  username: string;
  /** A password, or an API key. */
  password: string;
  tenant?: string | undefined;
  totp?: string | undefined;
  recoveryCode?: string | undefined;
}

/** A session, and whose it is. */
export interface SignedIn extends CreatedSession {
  by: { kind: 'user'; user: UserRecord } | { kind: 'api_key'; caller: Caller };
}

/**
 * Signs in by username or e-mail address and password, else by API key. Every failure is the same error and takes the same
 * time, whether the account exists or not. See docs/reference/users.md#sign-in.
 *
 * @param mayEnter roles that may sign in here; for others it is a failure like any
 * @throws auth_invalid_credentials, auth_totp_required, tenant_access_denied, rate_limited, overloaded, totp_unavailable
 */
export async function signIn(
  deps: UserDeps,
  request: SignInRequest,
  origin: RequestOrigin,
  mayEnter: (role: string) => boolean = () => true,
): Promise<SignedIn> {
  const { limits, onRefused } = deps;
  const address = addressBucket(origin.ip);
  await limits.takeAddress(address);
  const attempt = { ...request, origin, address, mayEnter };
  const refuse = (code: 'auth_invalid_credentials' | 'tenant_access_denied') => {
    onRefused({ code, credential: request.username ? 'password' : 'api_key', method: 'POST', ...origin });
    return new AppError(code);
  };
  if (request.password === '') throw refuse('auth_invalid_credentials');
  const signedIn = (await signInUser(deps, attempt)) ?? (await signInKey(deps, attempt));
  if (typeof signedIn !== 'object') throw refuse(signedIn ?? 'auth_invalid_credentials');
  await limits.clearAddress(address);
  return signedIn;
}

interface Attempt extends SignInRequest {
  origin: RequestOrigin;
  /** As counters use it. */
  address: string;
  mayEnter(role: string): boolean;
}

async function signInUser(deps: UserDeps, attempt: Attempt): Promise<SignedIn | undefined> {
  const { settings, limits, passwords } = deps;
  const { username, password, address } = attempt;
  if (!settings.isEnabled || username === '') return undefined;
  const tenant = attempt.tenant || settings.defaultTenant;
  const found = await findAccount(deps, tenant, username);
  const account = found?.user.id ?? `${tenant}\n${username.toLowerCase()}`;
  return limits.onAccount({ account, address }, async (maySucceed) => {
    const isActive = found && !found.user.disabled && !deps.isTenantStopped(tenant);
    const phc = maySucceed && isActive ? found.user.password : undefined;
    const isRight = await passwords.verify(phc, password);
    return isRight && found && phc ? enter(deps, found, phc, attempt) : undefined;
  });
}

/** Makes as many reads for an unknown account as for a known one. */
async function findAccount(
  { store }: Pick<UserDeps, 'store'>,
  tenant: string,
  username: string,
): Promise<StoredUser | undefined> {
  const byName = await store.users.findByName(tenant, username);
  const byEmail = username.includes('@') ? await store.users.findByEmail(tenant, username) : undefined;
  const found = byName ?? byEmail;
  if (!found) await store.users.get('-');
  return found;
}

/**
 * Opens the session of a user whose password was right. The write fails if the user was changed since, so that neither an old
 * password nor a used code opens a session.
 */
async function enter(deps: UserDeps, found: StoredUser, phc: string, attempt: Attempt): Promise<SignedIn | undefined> {
  const { clock, passwords, sessions, limits } = deps;
  const { password, origin, mayEnter } = attempt;
  let verified = phc;
  let isCounted = false;
  const written = await changeUser(deps, found, async ({ user }) => {
    if (user.disabled || !mayEnter(user.role)) return undefined;
    if (user.password !== verified) {
      if (!(await passwords.verify(user.password, password)) || !user.password) return undefined;
      verified = user.password;
    }
    const { totp } = user;
    if (totp?.confirmed && !isCounted && (attempt.totp || attempt.recoveryCode)) {
      await limits.takeFactor(user.id);
      isCounted = true;
    }
    const factor = totp?.confirmed ? useFactor(deps, user.id, totp, attempt) : totp;
    if (totp?.confirmed && !factor) return undefined;
    const isOutdated = passwords.isOutdated(verified);
    return {
      user: {
        ...user,
        ...(isOutdated && { password: await passwords.hash(password) }),
        ...(factor && { totp: factor }),
        last_login_at: new Date(clock.nowMs()).toISOString(),
      },
      rehashed: isOutdated,
      act: buildSignInAct(user, 'password', origin),
    };
  });
  if (!written) return undefined;
  const { user, generation } = written;
  if (isCounted) await limits.clearFactor(user.id);
  // A crash here: the sign-in is recorded, and the client has no session.
  const session = await sessions.create({
    ...{ kind: 'user', userId: user.id, generation, tenant: user.tenant, method: 'password', address: origin.ip },
  });
  return { ...session, by: { kind: 'user', user } };
}

/**
 * The second factor after the use of a code; undefined when the code is wrong.
 *
 * @throws auth_totp_required when there is no code, totp_unavailable
 */
export function useFactor(
  { clock, sealed }: Pick<UserDeps, 'clock' | 'sealed'>,
  userId: string,
  factor: StoredFactor,
  { totp, recoveryCode }: Pick<SignInRequest, 'totp' | 'recoveryCode'>,
): StoredFactor | undefined {
  if (recoveryCode) {
    const hash = hashRecoveryCode(recoveryCode);
    const recovery = factor.recovery.filter((one) => one !== hash);
    return recovery.length < factor.recovery.length ? { ...factor, recovery } : undefined;
  }
  if (!totp) throw new AppError('auth_totp_required');
  const secret = sealed?.open(factor.secret, userId);
  if (secret === undefined) throw new AppError('totp_unavailable');
  const step = findTotpStep(secret, totp.trim(), clock.nowMs(), factor.last_step);
  return step === undefined ? undefined : { ...factor, last_step: step };
}

/** @returns the code of the refusal, or undefined when it is no API key */
async function signInKey(deps: UserDeps, attempt: Attempt): Promise<SignedIn | 'tenant_access_denied' | undefined> {
  const { authenticate, limits, sessions, audited } = deps;
  const { password, tenant, origin, mayEnter } = attempt;
  const outcome = await authenticate({ apiKey: password, ...(tenant && { tenant }) });
  if (outcome.kind === 'refused') return outcome.code === 'tenant_access_denied' ? outcome.code : undefined;
  const { caller } = outcome;
  // Only keys open a session: one that was opened by a session token would outlive that session.
  if (caller.source !== 'api_key') return undefined;
  const keyDigest = sha256(bareKey(password));
  await limits.takeKey(keyDigest);
  if (!mayEnter(caller.role)) return undefined;
  const session = await audited(caller.tenant, toSignInAct('auth.sign_in', caller, origin), () =>
    sessions.create({ kind: 'api_key', keyDigest, tenant: caller.tenant, method: 'api_key', address: origin.ip }),
  );
  await limits.clearKey(keyDigest);
  return { ...session, by: { kind: 'api_key', caller } };
}
