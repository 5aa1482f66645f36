import { variables } from './declare';

/** Pages to which a sign-in at a provider returns. */
export const signInPageVariables = variables({
  authRedirectUrl: {
    name: 'SVC_AUTH_REDIRECT_URL',
    type: 'url',
    shownDefault: 'SVC_AUTH_UI_ORIGIN and /login',
    doc: 'Page to which a sign-in returns by default; its origin is the only one to which it returns.',
  },
  authUiOrigin: {
    name: 'SVC_AUTH_UI_ORIGIN',
    type: 'url',
    shownDefault: 'SVC_API_BASE_URL',
    doc: 'Origin of the pages, when SVC_AUTH_REDIRECT_URL is unset.',
  },
  ssoFragmentToken: {
    name: 'SVC_AUTH_SSO_FRAGMENT_TOKEN',
    type: 'bool',
    default: 'true',
    doc: 'Adds the session token to the fragment of the redirect; false leaves it in the cookie only.',
  },
});
