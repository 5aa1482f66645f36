import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useApi, type Api } from '../api.testing';
import { browse, publicOrigin, type BrowserAnswer, type Jar } from './oidc.testing';
import { newCertificate, openSamlIdp, type Facts, type SamlIdp } from './saml-idp.testing';

export const samlRoutes = '/api/v1/auth/sso/saml';

/** The response of a sign-in. */
export interface SamlSignIn {
  answer: BrowserAnswer;
  /** As the provider signed it, and as it was sent. */
  xml: string;
  changed: string;
  jar: Jar;
}

export interface SamlWorld {
  api: Api;
  readonly idp: SamlIdp;
  /** Metadata of the gateway. */
  readonly spMetadata: string;
  /** Begins a sign-in. @returns its state and the id of the request, which the provider has verified */
  begin(jar: Jar): Promise<{ state: string; request: string }>;
  /** Sends a response of the provider, as the browser does. @param state '' = none */
  post(xml: string, state: string, jar: Jar): Promise<BrowserAnswer>;
  /** Signs in with a response that was changed after it was signed. */
  signIn(
    change?: (xml: string) => string,
    facts?: Partial<Facts>,
    options?: Parameters<SamlIdp['respond']>[2],
  ): Promise<SamlSignIn>;
}

/**
 * A gateway with a SAML provider. Call at the top of a `describe`.
 *
 * @param configure variables that name the metadata of the provider, and further ones; files are written to `dir`
 */
export function useSaml(configure: (idp: SamlIdp, dir: string) => Record<string, string>): SamlWorld {
  const dir = mkdtempSync(join(tmpdir(), 'svc-test-saml-'));
  // The gateway reads it when it starts, after the provider.
  const env: Record<string, string> = {};
  let spMetadata = '';
  let idp: SamlIdp | undefined;
  beforeAll(async () => {
    const { cert, key } = await newCertificate('gateway.test');
    writeFileSync(join(dir, 'sp.crt'), cert);
    writeFileSync(join(dir, 'sp.key'), key);
    idp = await openSamlIdp(() => spMetadata);
    Object.assign(env, {
      SVC_SAML_BASE_URL: publicOrigin,
      SVC_SAML_CERT_PATH: join(dir, 'sp.crt'),
      SVC_SAML_KEY_PATH: join(dir, 'sp.key'),
      API_PUBLIC_RATE_LIMIT_RPS: '100000',
      API_PUBLIC_RATE_LIMIT_BURST: '100000',
      ...configure(idp, dir),
    });
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  const api = useApi({ env });
  beforeEach(async () => {
    api.license('enterprise');
    spMetadata ||= await (await fetch(`${api.url}${samlRoutes}/metadata`)).text();
  });
  const getIdp = () => {
    if (!idp) throw new Error('the provider runs only inside hooks and tests');
    return idp;
  };
  const world: SamlWorld = {
    api,
    get idp() {
      return getIdp();
    },
    get spMetadata() {
      return spMetadata;
    },
    async begin(jar) {
      const { location } = await browse(api.url, `${samlRoutes}/login`, jar);
      const { search, searchParams } = new URL(location ?? '');
      const query = Object.fromEntries(searchParams);
      const octetString = search.slice(1, search.indexOf('&Signature='));
      const request = await getIdp().receive('redirect', { query, octetString });
      return { state: query['RelayState'] ?? '', request };
    },
    post: (xml, state, jar) =>
      browse(api.url, `${samlRoutes}/acs`, jar, {
        SAMLResponse: Buffer.from(xml).toString('base64'),
        ...(state && { RelayState: state }),
      }),
    async signIn(change = (xml) => xml, facts = {}, options = {}) {
      const jar: Jar = new Map();
      const { state, request } = await world.begin(jar);
      const xml = await getIdp().respond(request, facts, options);
      const changed = change(xml);
      return { answer: await world.post(changed, state, jar), xml, changed, jar };
    },
  };
  return world;
}
