import * as contract from '@svc/contract';
import { answer, handlersFor } from '@svc/http';
import { clearedSessionCookie, sessionCookie } from '@svc/identity';
import { getAuthConfig } from './auth-config';
import { changePassword } from './change-password';
import { endNamedSessions, endOtherSessions, endOwnSession, listOwnSessions } from './own-sessions';
import { type Credentials, getSession, toSignedInView } from './session-view';
import { signIn } from './sign-in';
import { beginTotp, confirmTotp, removeTotp } from './totp';
import type { UserDeps } from './user-deps';
import { createUser, deleteUser, listUsers, resetTotp, setPassword, updateUser } from './write-user';

/** Dependencies of these handlers. */
export interface UserContext {
  users: UserDeps & {
    /** Cookies are always Secure; otherwise only those set over TLS. */
    secureCookies: boolean;
  };
}

const handle = handlersFor<UserContext>();

const readCredentials = (header: (name: string) => string | undefined): Credentials => ({
  authorization: header('authorization'),
  apiKey: header('x-api-key'),
  cookie: header('cookie'),
});

/** Sign-in, sessions, second factors and users. */
export const userRoutes = [
  handle(contract.getAuthConfig, async ({ ctx }) => getAuthConfig(ctx.users)),
  handle(contract.login, async ({ body, header, ip, requestId, isSecure, ctx: { users } }) => {
    const { recovery_code: recoveryCode, ...entered } = body;
    const signedIn = await signIn(users, { ...entered, recoveryCode }, { ip, requestId, path: contract.login.path });
    // A session that was planted in the browser, or is replaced, ends.
    await endNamedSessions(users, { cookie: header('cookie') });
    const cookie = sessionCookie(signedIn, users.secureCookies || isSecure);
    return answer(toSignedInView(signedIn, body.password), { headers: { 'Set-Cookie': cookie } });
  }),
  handle(contract.getSession, ({ caller, header, ctx }) => getSession(ctx.users, caller, readCredentials(header))),
  handle(contract.logout, async ({ header, isSecure, ctx: { users } }) => {
    await endNamedSessions(users, readCredentials(header));
    return answer(undefined, { headers: { 'Set-Cookie': clearedSessionCookie(users.secureCookies || isSecure) } });
  }),
  handle(contract.changePassword, ({ body, caller, requestId, ip, ctx }) =>
    changePassword(ctx.users, { caller, requestId, ip }, body),
  ),
  handle(contract.listOwnSessions, ({ caller, header, ctx }) =>
    listOwnSessions(ctx.users, caller, readCredentials(header)),
  ),
  handle(contract.endOwnSession, ({ params, caller, header, ctx }) =>
    endOwnSession(ctx.users, caller, readCredentials(header), params.session_id),
  ),
  handle(contract.endOtherSessions, ({ caller, header, ctx }) =>
    endOtherSessions(ctx.users, caller, readCredentials(header)),
  ),
  handle(contract.beginTotp, ({ body, caller, requestId, ip, ctx }) =>
    beginTotp(ctx.users, { caller, requestId, ip }, body.password),
  ),
  handle(contract.confirmTotp, ({ body, caller, requestId, ip, ctx }) =>
    confirmTotp(ctx.users, { caller, requestId, ip }, body),
  ),
  handle(contract.removeTotp, ({ body, caller, requestId, ip, ctx }) =>
    removeTotp(ctx.users, { caller, requestId, ip }, body),
  ),
  handle(contract.listUsers, ({ caller, ctx }) => listUsers(ctx.users, caller)),
  handle(contract.createUser, ({ body, caller, requestId, ctx }) => createUser(ctx.users, { caller, requestId }, body)),
  handle(contract.updateUser, ({ params, body, caller, requestId, ctx }) =>
    updateUser(ctx.users, { caller, requestId }, params.id, body),
  ),
  handle(contract.deleteUser, ({ params, caller, requestId, ctx }) =>
    deleteUser(ctx.users, { caller, requestId }, params.id),
  ),
  handle(contract.setPassword, ({ params, body, caller, requestId, ctx }) =>
    setPassword(ctx.users, { caller, requestId }, params.id, body.password),
  ),
  handle(contract.resetTotp, ({ params, caller, requestId, ctx }) =>
    resetTotp(ctx.users, { caller, requestId }, params.id),
  ),
];
