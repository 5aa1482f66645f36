import { AppError, type ChangePasswordBody } from '@svc/contract';
import { addressBucket } from '@svc/http';
import { passwordProblem } from '@svc/identity';
import type { StoredUser, UserRecord } from '@svc/store';
import { type ActContext, buildAct, changeUser, fault, requireUserAuth, type UserDeps } from './user-deps';

/** A change that a user makes to the own account. */
export interface OwnContext extends ActContext {
  ip: string;
}

/**
 * Changes the password of the caller, and ends all sessions of the user.
 *
 * @throws auth_request_invalid, auth_user_not_found, auth_invalid_credentials, auth_password_invalid
 */
export async function changePassword(deps: UserDeps, context: OwnContext, body: ChangePasswordBody): Promise<void> {
  requireUserAuth(deps);
  const { current_password, new_password } = body;
  if (current_password === '') throw fault('current_password', 'the password in use is required');
  if (new_password === '') throw fault('new_password', 'the new password is required');
  const stored = await findSelf(deps, context);
  await requirePassword(deps, context, stored, current_password);
  const verified = stored.user.password;
  const password = await hashNew(deps, stored.user, new_password);
  await changeUser(deps, stored, ({ user }) => {
    // The password that was verified is no longer in use.
    if (user.password !== verified || user.disabled) throw new AppError('auth_invalid_credentials');
    return {
      user: toRekeyed(deps, user, password),
      act: buildAct('user.password_changed', context, user),
    };
  });
}

/** The record with another password. */
export const toRekeyed = ({ clock }: Pick<UserDeps, 'clock'>, user: UserRecord, password: string): UserRecord => ({
  ...user,
  password,
  updated_at: new Date(clock.nowMs()).toISOString(),
});

/** Hashes a new password. @throws auth_password_invalid, overloaded */
export async function hashNew(
  { passwords }: Pick<UserDeps, 'passwords'>,
  { username, email }: Pick<UserRecord, 'username' | 'email'>,
  password: string,
): Promise<string> {
  const problem = passwordProblem(password, [username, email?.split('@', 1)[0]]);
  if (problem) throw new AppError('auth_password_invalid', { error: `the password ${problem}` });
  return passwords.hash(password);
}

/** The user who calls. @throws auth_user_not_found for callers that are no users */
export async function findSelf({ store }: Pick<UserDeps, 'store'>, { caller }: ActContext): Promise<StoredUser> {
  const stored = caller.userId === undefined ? undefined : await store.users.get(caller.userId);
  if (!stored || stored.user.disabled) throw new AppError('auth_user_not_found');
  return stored;
}

/** Attempts count like those to sign in: a stolen session must not be a way to guess the password. @throws auth_invalid_credentials */
export async function requirePassword(
  { limits, passwords }: Pick<UserDeps, 'limits' | 'passwords'>,
  { ip }: Pick<OwnContext, 'ip'>,
  { user }: StoredUser,
  password: string,
): Promise<void> {
  const attempt = { account: user.id, address: addressBucket(ip) };
  const isRight = await limits.onAccount(attempt, async (maySucceed) =>
    (await passwords.verify(maySucceed ? user.password : undefined, password)) ? true : undefined,
  );
  if (!isRight) throw new AppError('auth_invalid_credentials');
}
