/** Users, sign-in by password and API key, sessions and second factors. */
export { getAuthConfig } from './auth-config';
export { bootstrapAdmin, type FirstAdmin } from './bootstrap-admin';
export { userRoutes, type UserContext } from './routes';
export { endNamedSessions } from './own-sessions';
export { signIn, type SignedIn, type SignInRequest } from './sign-in';
export { buildSignInAct, changeUser, toAuthUser, type RequestOrigin, type UserDeps } from './user-deps';
