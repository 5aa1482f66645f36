import {
  AppError,
  type ConfirmTotpBody,
  type RecoveryCodes,
  type RemoveTotpBody,
  type TotpEnrollment,
} from '@svc/contract';
import { hashRecoveryCode, newRecoveryCodes, newTotpSecret, toTotpUrl, type SealedTexts } from '@svc/identity';
import type { UserRecord } from '@svc/store';
import { findSelf, type OwnContext, requirePassword } from './change-password';
import { useFactor } from './sign-in';
import { buildAct, changeUser, fault, requireUserAuth, type UserDeps } from './user-deps';

/** Name of the issuer in authenticator apps. */
const ISSUER = 'Control plane';

/**
 * Generates the secret of a second factor, which is in effect after `confirmTotp`. See docs/reference/users.md#second-factor.
 *
 * @throws auth_user_not_found, auth_invalid_credentials, auth_totp_conflict, totp_unavailable
 */
export async function beginTotp(deps: UserDeps, context: OwnContext, password: string): Promise<TotpEnrollment> {
  const sealed = requireSealed(deps);
  const stored = await findSelf(deps, context);
  await requirePassword(deps, context, stored, password);
  const secret = newTotpSecret(randomBytes(deps));
  await changeUser(deps, stored, ({ user }) => {
    if (user.totp?.confirmed) throw new AppError('auth_totp_conflict');
    const totp = { secret: sealed.seal(secret, user.id), recovery: [] };
    return { user: touch(deps, { ...user, totp }), act: buildAct('user.totp_begun', context, user) };
  });
  return { secret, otpauth_url: toTotpUrl(secret, stored.user.username, ISSUER) };
}

/** @throws auth_user_not_found, auth_invalid_credentials, auth_totp_conflict, rate_limited, totp_unavailable */
export async function confirmTotp(
  deps: UserDeps,
  context: OwnContext,
  { code }: ConfirmTotpBody,
): Promise<RecoveryCodes> {
  requireSealed(deps);
  const stored = await findSelf(deps, context);
  const codes = newRecoveryCodes(randomBytes(deps));
  await deps.limits.takeFactor(stored.user.id);
  await changeUser(deps, stored, ({ user }) => {
    if (!user.totp || user.totp.confirmed) throw new AppError('auth_totp_conflict');
    const used = useCode(deps, user, code);
    const totp = { ...used, confirmed: true, recovery: codes.map(hashRecoveryCode) };
    return { user: touch(deps, { ...user, totp }), act: buildAct('user.totp_added', context, user) };
  });
  await deps.limits.clearFactor(stored.user.id);
  return { recovery_codes: codes };
}

/** @throws auth_request_invalid, auth_user_not_found, auth_invalid_credentials, auth_totp_conflict, rate_limited */
export async function removeTotp(
  deps: UserDeps,
  context: OwnContext,
  { password, code }: RemoveTotpBody,
): Promise<void> {
  requireUserAuth(deps);
  if (!password && !code) throw fault('password', 'the password or a code is required');
  const stored = await findSelf(deps, context);
  if (!stored.user.totp) throw new AppError('auth_totp_conflict');
  if (password) await requirePassword(deps, context, stored, password);
  else await deps.limits.takeFactor(stored.user.id);
  await changeUser(deps, stored, ({ user }) => {
    if (!user.totp) throw new AppError('auth_totp_conflict');
    if (!password) useCode(deps, user, code ?? '');
    return { user: touch(deps, withoutFactor(user)), act: buildAct('user.totp_removed', context, user) };
  });
}

/** The record without second factor. */
export function withoutFactor(user: UserRecord): UserRecord {
  const { totp: _, ...rest } = user;
  return rest;
}

/** @throws auth_invalid_credentials, totp_unavailable */
function useCode(deps: UserDeps, { id, totp }: UserRecord, code: string) {
  const used = totp && code ? useFactor(deps, id, totp, { totp: code }) : undefined;
  if (!used) throw new AppError('auth_invalid_credentials');
  return used;
}

/** @throws auth_request_invalid, totp_unavailable */
function requireSealed(deps: UserDeps): SealedTexts {
  requireUserAuth(deps);
  if (!deps.sealed) throw new AppError('totp_unavailable');
  return deps.sealed;
}

const randomBytes =
  ({ random }: UserDeps) =>
  (count: number): Uint8Array =>
    Buffer.from(random.hex(count), 'hex');

const touch = ({ clock }: UserDeps, user: UserRecord): UserRecord => ({
  ...user,
  updated_at: new Date(clock.nowMs()).toISOString(),
});
