/**
 * A real OpenID Connect provider for trying out sign-in, on this machine only: `npm run sso-provider`. Every password is right.
 * docs/guides/sso.md uses it step by step.
 */
import { Provider } from 'oidc-provider';

const {
  PORT = '9400',
  ISSUER = `http://localhost:${PORT}`,
  GATEWAY = 'http://localhost:8081',
  CLIENT_ID = 'svc',
  CLIENT_SECRET = 'svc-secret-of-the-example-provider',
  /** Private keys as JSON; generated keys of the package when unset. */
  JWKS,
} = process.env;

/** People who can sign in, by the name that they enter. Others get no groups. */
const people = {
  alice: { name: 'Alice Adams', groups: ['Platform'], email: 'alice@example.com', email_verified: true },
  bob: { name: 'Bob Brown', groups: ['Support'], email: 'bob@example.com', email_verified: true },
};

const provider = new Provider(ISSUER, {
  clients: [
    {
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      redirect_uris: [`${GATEWAY}/api/v1/auth/sso/oidc/callback`],
      post_logout_redirect_uris: ['/admin/queues', '/login'].map((page) => GATEWAY + page),
      backchannel_logout_uri: `${GATEWAY}/api/v1/auth/sso/oidc/backchannel-logout`,
      backchannel_logout_session_required: true,
    },
  ],
  ...(JWKS && { jwks: JSON.parse(JWKS) }),
  cookies: { keys: ['of the example provider'] },
  claims: {
    openid: ['sub'],
    profile: ['name', 'preferred_username', 'groups', 'org_id'],
    email: ['email', 'email_verified'],
  },
  // Providers differ here; this one puts all claims into the id token.
  conformIdTokenClaims: false,
  features: {
    devInteractions: { enabled: true },
    backchannelLogout: { enabled: true },
    rpInitiatedLogout: { enabled: true },
  },
  // The package connects to public addresses only; the gateway, which it notifies of a sign-out, is on this machine.
  fetch: (url, { dispatcher: _, ...options }) => fetch(url, options),
  ttl: { Session: 3_600, Grant: 3_600, Interaction: 600, IdToken: 3_600, AccessToken: 3_600, AuthorizationCode: 60 },
  findAccount: (_ctx, name) => ({
    accountId: name,
    claims: () => ({ sub: name, preferred_username: name, ...people[name] }),
  }),
});

const server = provider.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`listening on ${server.address().port}`);
  console.log(
    `issuer ${ISSUER}, client ${CLIENT_ID}; sign in as ${Object.keys(people).join(' or ')} with any password`,
  );
});
