import { signInAt, startExampleProvider, type ExampleProvider } from '@svc/fixtures/sso';
import { useApi, type Api, type UseApiOptions } from '../api.testing';

/** Origin at which browsers reach the gateway; the tests send such requests to its port. */
export const publicOrigin = 'http://gateway.test';

/** Cookies of a browser, by name. */
export type Jar = Map<string, string>;

export interface BrowserAnswer {
  status: number;
  location: string | undefined;
  /** Values of the fragment of the location. */
  fragment: Record<string, string>;
  body: Record<string, unknown> | undefined;
  setCookies: string[];
}

interface OidcWorld {
  api: Api;
  readonly provider: ExampleProvider;
  /** A request of a browser, which keeps its cookies and follows no redirects. */
  browse(path: string, jar: Jar, form?: Record<string, string>): Promise<BrowserAnswer>;
  /** Begins a sign-in, and signs in at the provider. @returns path of the callback, with its query */
  toCallback(jar: Jar, name?: string, redirect?: string): Promise<string>;
  signIn(name?: string, jar?: Jar): Promise<BrowserAnswer>;
}

/** A gateway with the example provider. Call at the top of a `describe`. */
export function useOidc(
  more: Readonly<Record<string, string>> = {},
  options: Pick<UseApiOptions, 'admin'> = {},
): OidcWorld {
  let provider: ExampleProvider | undefined;
  // The gateway reads it when it starts, after the provider.
  const env: Record<string, string> = {};
  beforeAll(async () => {
    provider = await startExampleProvider(publicOrigin);
    Object.assign(env, {
      SVC_OIDC_ISSUER: provider.issuer,
      SVC_OIDC_CLIENT_ID: provider.clientId,
      SVC_OIDC_CLIENT_SECRET: provider.clientSecret,
      SVC_OIDC_REDIRECT_URI: `${publicOrigin}/api/v1/auth/sso/oidc/callback`,
      SVC_AUTH_UI_ORIGIN: publicOrigin,
      OIDC_JWKS_REFRESH_COOLDOWN: '1s',
      API_PUBLIC_RATE_LIMIT_RPS: '100000',
      API_PUBLIC_RATE_LIMIT_BURST: '100000',
      ...more,
    });
  }, 60_000);
  afterAll(() => provider?.stop());
  const api = useApi({ ...options, env });
  beforeEach(() => {
    api.license('enterprise');
    if (provider) provider.tamper = undefined;
  });
  const getProvider = () => {
    if (!provider) throw new Error('the provider runs only inside hooks and tests');
    return provider;
  };
  const world: OidcWorld = {
    api,
    get provider() {
      return getProvider();
    },
    browse: (path, jar, form) => browse(api.url, path, jar, form),
    async toCallback(jar, name = 'alice', redirect) {
      const query = redirect === undefined ? '' : `?redirect=${encodeURIComponent(redirect)}`;
      const { location } = await world.browse(`/api/v1/auth/sso/oidc/login${query}`, jar);
      const back = await signInAt(getProvider().issuer, location ?? '', name);
      if (back.origin !== publicOrigin) throw new Error(`the provider redirects to ${back.origin}`);
      return back.pathname + back.search;
    },
    signIn: async (name = 'alice', jar = new Map()) => world.browse(await world.toCallback(jar, name), jar),
  };
  return world;
}

/** A request of a browser to a gateway. */
export async function browse(
  origin: string,
  path: string,
  jar: Jar,
  form?: Record<string, string>,
): Promise<BrowserAnswer> {
  const response = await fetch(origin + path, {
    redirect: 'manual',
    headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
  });
  const setCookies = response.headers.getSetCookie();
  for (const line of setCookies) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === '') jar.delete(name);
    else jar.set(name, value);
  }
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  const location = response.headers.get('location') ?? undefined;
  const fragment = new URLSearchParams(location?.split('#')[1] ?? '');
  return {
    status: response.status,
    location,
    fragment: Object.fromEntries(fragment),
    body: isJson ? (JSON.parse(text) as Record<string, unknown>) : undefined,
    setCookies,
  };
}
