/** Sign-in at identity providers: OpenID Connect and SAML 2.0. */
export { openProviders, openSso, type Providers, type SsoParts } from './open-sso';
export { ssoRoutes, type SsoContext } from './routes';
export { describeProviders } from './sso-config';
