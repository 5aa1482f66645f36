import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { webcrypto } from 'node:crypto';
import { createRequire } from 'node:module';

interface Entity {
  getMetadata(): string;
  entityMeta: { getAssertionConsumerService(binding: string): unknown; getEntityID(): unknown };
  parseLoginRequest(sp: Entity, binding: string, request: object): Promise<{ extract: { request: { id: string } } }>;
  createLoginResponse(
    sp: Entity,
    request: object,
    binding: string,
    user: object,
    fill: () => { id: string; context: string },
  ): Promise<{ context: string }>;
}

// Its own types bring those of browsers into the whole program.
const samlify = createRequire(__filename)('samlify') as {
  IdentityProvider(settings: object): Entity;
  ServiceProvider(settings: object): Entity;
  setSchemaValidator(validator: { validate(xml: string): Promise<string> }): void;
  Constants: { namespace: { binding: Readonly<Record<'redirect' | 'post', string>> } };
};

const algorithm = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  publicExponent: new Uint8Array([1, 0, 1]),
  modulusLength: 2_048,
};

/** An RSA key and its certificate, as PEM. */
export async function newCertificate(name: string): Promise<{ cert: string; key: string }> {
  x509.cryptoProvider.set(webcrypto);
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    ...{ keys, name: `CN=${name}`, serialNumber: '01', signingAlgorithm: algorithm },
    ...{ notBefore: new Date(Date.now() - 86_400_000), notAfter: new Date(Date.now() + 86_400_000) },
  });
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const key = `-----BEGIN PRIVATE KEY-----\n${pkcs8.replace(/(.{64})/g, '$1\n')}\n-----END PRIVATE KEY-----\n`;
  return { cert: cert.toString('pem'), key };
}

/** Values of an assertion. Absent ones are right. */
export interface Facts {
  nameId: string;
  nameIdFormat: string;
  email: string;
  role: string;
  tenant: string;
  audience: string;
  destination: string;
  recipient: string;
  inResponseTo: string;
  issuer: string;
  untilMs: number;
  assertionId: string;
}

export interface SamlIdp {
  metadata: string;
  /** Verifies a request of the gateway by its signature. @returns its id */
  receive(
    binding: 'redirect' | 'post',
    request: { query?: Record<string, string>; octetString?: string; body?: Record<string, string> },
  ): Promise<string>;
  /** A signed response as XML. */
  respond(request: string, facts?: Partial<Facts>, options?: { encrypted?: true; forged?: true }): Promise<string>;
}

const entityId = 'https://idp.example/metadata';
const signOn = 'https://idp.example/sso';

/** A real identity provider (samlify). @param spMetadata as the gateway serves it */
export async function openSamlIdp(spMetadata: () => string): Promise<SamlIdp> {
  samlify.setSchemaValidator({ validate: () => Promise.resolve('the tests check the messages') });
  const [own, foreign] = await Promise.all([newCertificate('idp.example'), newCertificate('evil.example')]);
  const open = ({ cert, key }: { cert: string; key: string }, isAssertionEncrypted: boolean) =>
    samlify.IdentityProvider({
      entityID: entityId,
      privateKey: key,
      signingCert: cert,
      isAssertionEncrypted,
      wantAuthnRequestsSigned: true,
      requestSignatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
      nameIDFormat: ['urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified'],
      singleSignOnService: [
        { Binding: samlify.Constants.namespace.binding.redirect, Location: signOn },
        { Binding: samlify.Constants.namespace.binding.post, Location: signOn },
      ],
    });
  const idp = open(own, false);
  const getSp = () => samlify.ServiceProvider({ metadata: spMetadata() });
  return {
    metadata: idp.getMetadata(),
    async receive(binding, request) {
      const { extract } = await idp.parseLoginRequest(getSp(), binding, request);
      return extract.request.id;
    },
    async respond(request, facts = {}, { encrypted, forged } = {}) {
      const sender = open(forged ? foreign : own, encrypted ?? false);
      const sp = getSp();
      const acs = String(sp.entityMeta.getAssertionConsumerService('post'));
      const given: Facts = {
        ...{
          nameId: 'carol',
          nameIdFormat: 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
          email: 'carol@example.com',
        },
        ...{
          role: 'viewer',
          tenant: '',
          audience: String(sp.entityMeta.getEntityID()),
          destination: acs,
          recipient: acs,
        },
        ...{
          inResponseTo: request,
          issuer: entityId,
          untilMs: Date.now() + 300_000,
          assertionId: `_${webcrypto.randomUUID()}`,
        },
        ...facts,
      };
      const { context } = await sender.createLoginResponse(sp, {}, 'post', { email: '' }, () => ({ id: 'x', context: fill(given) })); // prettier-ignore
      return Buffer.from(String(context), 'base64').toString('utf8');
    },
  };
}

const attribute = (name: string, value: string) =>
  `<saml:Attribute Name="${name}"><saml:AttributeValue>${value}</saml:AttributeValue></saml:Attribute>`;

function fill(facts: Facts): string {
  const at = (ms: number) => new Date(ms).toISOString();
  const request = facts.inResponseTo ? ` InResponseTo="${facts.inResponseTo}"` : '';
  const attributes = ['email', 'role', 'tenant'] as const;
  return [
    `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_response" Version="2.0" IssueInstant="${at(Date.now())}" Destination="${facts.destination}"${request}>`,
    `<saml:Issuer>${facts.issuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>`,
    `<saml:Assertion ID="${facts.assertionId}" Version="2.0" IssueInstant="${at(Date.now())}"><saml:Issuer>${facts.issuer}</saml:Issuer>`,
    `<saml:Subject><saml:NameID Format="${facts.nameIdFormat}">${facts.nameId}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer">`,
    `<saml:SubjectConfirmationData NotOnOrAfter="${at(facts.untilMs)}" Recipient="${facts.recipient}"${request}/></saml:SubjectConfirmation></saml:Subject>`,
    `<saml:Conditions NotBefore="${at(Date.now() - 600_000)}" NotOnOrAfter="${at(facts.untilMs)}"><saml:AudienceRestriction><saml:Audience>${facts.audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>`,
    `<saml:AuthnStatement AuthnInstant="${at(Date.now())}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`,
    `<saml:AttributeStatement>${attributes.map((name) => attribute(name, facts[name])).join('')}</saml:AttributeStatement>`,
    '</saml:Assertion></samlp:Response>',
  ].join('');
}
