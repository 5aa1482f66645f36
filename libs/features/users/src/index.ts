/** Users, sign-in by password and API key, sessions and second factors. */
export { getAuthConfig } from './auth-config';
export { bootstrapAdmin } from './bootstrap-admin';
export { userRoutes, type UserContext } from './routes';
export { endNamedSessions } from './own-sessions';
export { signIn, type SignedIn, type SignInRequest } from './sign-in';
export { buildSignInAct, changeUser, toAuthUser, type UserDeps } from './user-deps';
