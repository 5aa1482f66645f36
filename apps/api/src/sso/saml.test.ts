import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { browse, publicOrigin, type Jar } from './oidc.testing';
import type { Facts, SamlIdp } from './saml-idp.testing';
import { samlRoutes as routes, useSaml } from './saml.testing';

jest.setTimeout(60_000);

const acs = `${publicOrigin}${routes}/acs`;
const invalid = { error: 'invalid_response' };
const signature = 'its signature, encryption or conditions are not valid';
const single = 'it must have exactly one assertion';
const plain = 'it is no XML, or has a document type, comments or instructions';
/** Why each is refused, so that no case passes for another reason. */
const reasons: Readonly<Record<string, string>> = {
  'wrapping: another assertion before the signed one': single,
  'wrapping: the signed one inside of the signature of another': single,
  'wrapping: the signed one in an extension of the response': single,
  'wrapping: the signed response inside of another': 'it contains another response',
  'two elements with the id of the signed one': 'two elements have the same id',
  'a comment in the name': plain,
  'the signature stripped': signature,
  'a document type': plain,
  'a processing instruction': plain,
  'a CDATA section': plain,
  'another name': signature,
  'another destination': 'it is for another destination',
  'no destination': 'it is for another destination',
  'a weak algorithm': 'its signature has a weak algorithm',
  'deep nesting': plain,
  'more than 256 KB': 'it is too large',
  'for another audience': signature,
  'for another recipient': 'the assertion is for another recipient',
  'for another destination': 'it is for another destination',
  'for another request': 'it is for another request',
  'for no request': 'it is for another request',
  'that has expired': signature,
  'of another issuer': 'it is of another issuer',
  'with another key': signature,
  'with another key, encrypted': signature,
  'encrypted, for another recipient': 'the assertion is for another recipient',
  'for a tenant that cannot exist': 'the assertion names no valid user or tenant',
};

describe('sign-in with SAML', () => {
  const world = useSaml((idp) => ({ SVC_SAML_IDP_METADATA: idp.metadata }));
  const { api, begin, post, signIn } = world;

  it('the metadata name this service, its consumer service and its certificate', () => {
    expect(world.spMetadata).toContain(`entityID="${publicOrigin}${routes}/metadata"`);
    expect(world.spMetadata).toContain(`Location="${acs}"`);
    expect(world.spMetadata).toContain('use="encryption"');
    expect(world.spMetadata).toContain('WantAssertionsSigned="true"');
  });

  it.each([
    ['signed', {}],
    ['signed and encrypted', { encrypted: true as const }],
  ])('302: a %s assertion signs in, in the browser that began it', async (_, options) => {
    const { answer, jar } = await signIn(undefined, { role: 'viewer; Operator' }, options);

    expect(answer).toMatchObject({
      status: 302,
      fragment: { username: 'carol@example.com', role: 'operator', tenant: 'acme', source: 'saml', token: jar.get('svc_session') },
    }); // prettier-ignore
  });

  it('302: the same name at the provider is the same user', async () => {
    const first = await signIn();
    const second = await signIn(undefined, { email: 'new@example.com' });

    expect(second.answer.fragment).toMatchObject({
      user_id: first.answer.fragment['user_id'],
      email: 'new@example.com',
    });
  });

  it('401: a response is accepted once, and in no other browser', async () => {
    const jar: Jar = new Map();
    const { state, request } = await begin(jar);
    const xml = await world.idp.respond(request);
    const planted = await post(xml, state, new Map());
    const own = await signIn();
    const again = await post(own.xml, state, own.jar);

    expect([planted.status, own.answer.status, again.status]).toEqual([401, 302, 401]);
  });

  it('400: a form without a response; 404: the license decides first', async () => {
    const none = await browse(api.url, `${routes}/acs`, new Map(), { RelayState: 'x' });
    api.license('enterprise', {});
    api.license('team', { sso: true });
    const refused = await browse(api.url, `${routes}/login`, new Map());

    expect(none).toMatchObject({ status: 400, body: { code: 'AUTH_SAML_REQUEST_INVALID' } });
    expect(refused).toMatchObject({ status: 403, body: { limit: 'saml' } });
  });

  it('forms of pages of the provider are accepted, and of no other route', async () => {
    const headers = { Origin: 'https://idp.example', 'Content-Type': 'application/x-www-form-urlencoded' };
    const send = (path: string) => fetch(api.url + path, { method: 'POST', headers, body: 'SAMLResponse=eA==' });

    expect((await send(`${routes}/acs`)).status).toBe(401);
    expect((await send('/api/v1/auth/logout')).status).toBe(403);
  });

  /** The elements of a response. */
  const parts = (xml: string) => {
    const assertion = /<saml:Assertion .*<\/saml:Assertion>/s.exec(xml)?.[0] ?? '';
    const signature = /<ds:Signature .*<\/ds:Signature>/s.exec(assertion)?.[0] ?? '';
    const evil = assertion
      .replace(signature, '')
      .replace(/ ID="[^"]+"/, ' ID="_evil"')
      .replaceAll('carol', 'admin')
      .replaceAll('>viewer<', '>admin<');
    return { assertion, signature, evil };
  };

  describe('a response that was changed after it was signed is refused:', () => {
    it.each<[string, (xml: string) => string]>([
      ['wrapping: another assertion before the signed one', (xml) => {
        const { assertion, evil } = parts(xml);
        return xml.replace(assertion, evil + assertion);
      }],
      ['wrapping: the signed one inside of the signature of another', (xml) => {
        const { assertion, signature, evil } = parts(xml);
        const moved = signature.replace('</ds:Signature>', `<ds:Object>${assertion.replace(signature, '')}</ds:Object></ds:Signature>`);
        return xml.replace(assertion, evil.replace('</saml:Issuer>', `</saml:Issuer>${moved}`));
      }],
      ['wrapping: the signed one in an extension of the response', (xml) => {
        const { assertion, evil } = parts(xml);
        return xml.replace(assertion, evil).replace('<samlp:Status>', `<samlp:Extensions>${assertion}</samlp:Extensions><samlp:Status>`);
      }],
      ['wrapping: the signed response inside of another', (xml) => {
        const { assertion, evil } = parts(xml);
        return xml.replace('ID="_response"', 'ID="_outer"').replace(assertion, evil + xml);
      }],
      ['two elements with the id of the signed one', (xml) => {
        const { assertion } = parts(xml);
        const id = / ID="[^"]+"/.exec(assertion)?.[0] ?? '';
        return xml.replace('<samlp:Status>', `<samlp:Status${id}>`);
      }],
      ['a comment in the name', (xml) => xml.replace('>carol<', '>carol<!-- x --><')],
      ['the signature stripped', (xml) => xml.replace(parts(xml).signature, '')],
      ['a document type', (xml) => `<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>${xml.replace('>carol<', '>&e;<')}`],
      ['a processing instruction', (xml) => xml.replace('<samlp:Status>', '<?x y?><samlp:Status>')],
      ['a CDATA section', (xml) => xml.replace('>carol<', '><![CDATA[carol]]><')],
      ['another name', (xml) => xml.replace('>carol<', '>admin<')],
      ['another destination', (xml) => xml.replace(`Destination="${acs}"`, 'Destination="https://evil.example/acs"')],
      ['no destination', (xml) => xml.replace(` Destination="${acs}"`, '')],
      ['a weak algorithm', (xml) => xml.replace('xmldsig-more#rsa-sha256', 'xmldsig#rsa-sha1')],
      ['deep nesting', (xml) => xml.replace('<samlp:Status>', '<x>'.repeat(5_000) + '</x>'.repeat(5_000) + '<samlp:Status>')],
      ['more than 256 KB', (xml) => xml.replace('<samlp:Status>', `<x>${'y'.repeat(262_144)}</x><samlp:Status>`)],
    ])('%s', async (name, change) => {
      const untouched = await signIn();
      const { answer, changed, xml, jar } = await signIn(change);

      expect(untouched.answer.fragment).toMatchObject({ username: 'carol@example.com' });
      expect(changed).not.toBe(xml);
      expect(answer.fragment).toMatchObject({ ...invalid, error_description: reasons[name] });
      expect(jar.has('svc_session')).toBe(false);
    }); // prettier-ignore
  });

  describe('an assertion that the provider signed is refused:', () => {
    it.each<[string, Partial<Facts>, Parameters<SamlIdp['respond']>[2]]>([
      ['for another audience', { audience: 'https://other.example' }, {}],
      ['for another recipient', { recipient: 'https://other.example/acs' }, {}],
      ['for another destination', { destination: 'https://other.example/acs' }, {}],
      ['for another request', { inResponseTo: `_${'a'.repeat(40)}` }, {}],
      ['for no request', { inResponseTo: '' }, {}],
      ['that has expired', { untilMs: Date.now() - 120_000 }, {}],
      ['of another issuer', { issuer: 'https://evil.example' }, {}],
      ['with another key', {}, { forged: true }],
      ['with another key, encrypted', {}, { forged: true, encrypted: true }],
      ['encrypted, for another recipient', { recipient: 'https://other.example/acs' }, { encrypted: true }],
      ['for a tenant that cannot exist', { tenant: '*' }, {}],
    ])('%s', async (name, facts, options) => {
      const untouched = await signIn(undefined, {}, options?.encrypted ? { encrypted: true } : {});
      const { answer } = await signIn(undefined, facts, options);

      expect(untouched.answer.status).toBe(302);
      expect(answer.fragment).toMatchObject({ ...invalid, error_description: reasons[name] });
    });

    it('that was used before, also with a new state', async () => {
      const jar: Jar = new Map();
      const first = await begin(jar);
      const xml = await world.idp.respond(first.request, { assertionId: '_once' });
      const accepted = await post(xml, first.state, jar);
      const { answer } = await signIn(undefined, { assertionId: '_once' });

      expect(accepted.fragment).toMatchObject({ username: 'carol@example.com' });
      expect(answer.fragment).toMatchObject(invalid);
    });
  });
});

describe('SAML with the binding POST, and sign-ins that begin at the provider', () => {
  const world = useSaml((idp, dir) => {
    const path = join(dir, 'idp.xml');
    writeFileSync(path, `<?xml version="1.0"?>\n<!-- of the provider -->\n${idp.metadata}`);
    return {
      SVC_SAML_IDP_METADATA: path,
      SVC_SAML_BINDING: 'post',
      SVC_SAML_ALLOW_IDP_INITIATED: 'true',
      SVC_SAML_DISABLE_AUTO_PROVISION: 'true',
    };
  });
  const { api, post } = world;

  it('200: a page that posts the signed request, and may do nothing else', async () => {
    const response = await fetch(`${api.url}${routes}/login`);
    const page = await response.text();
    const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '';

    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'sha256-[^']+'; form-action https:\/\/idp\.example\/sso; frame-ancestors 'none'; base-uri 'none'$/,
    );
    expect(response.headers.get('set-cookie')).toMatch(/^svc_saml=[\w-]{32}; Max-Age=600; Path=\/; HttpOnly; SameSite=None; Secure$/); // prettier-ignore
    expect(await world.idp.receive('post', { body: { SAMLRequest: field('SAMLRequest') } })).toMatch(/^_[0-9a-f]{40}$/);
  });

  it('403: a user who does not exist, where none are provisioned', async () => {
    const xml = await world.idp.respond('');
    const answer = await post(xml, '', new Map());

    expect(answer.fragment).toMatchObject({ error: 'identity_resolution_failed' });
  });

  it('302: an existing user; a response to a request that this gateway did not make is refused', async () => {
    const now = new Date().toISOString();
    await api.store.users.write({
      user: { id: '1', tenant: 'acme', username: 'carol', email: 'carol@example.com', role: 'viewer', source: 'scim', created_at: now, updated_at: now },
      expected: 0,
      act: { event_type: 'identity.change', action: 'user.created', severity: 'MEDIUM' },
    }); // prettier-ignore
    const send = async (request: string) => post(await world.idp.respond(request), '', new Map());

    expect((await send('')).fragment).toMatchObject({ user_id: '1', username: 'carol' });
    expect((await send(`_${'a'.repeat(40)}`)).fragment).toMatchObject(invalid);
  });
});
