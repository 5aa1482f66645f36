import { X509Certificate } from 'node:crypto';
import { allElements, children, parseXml, samlNamespaces, textContent, type XmlElement } from './xml';

/** An identity provider. */
export interface IdpMetadata {
  entityId: string;
  /** URL of the sign-on service by binding. */
  signOn: Partial<Record<'redirect' | 'post', string>>;
  /** Certificates (PEM) of the keys that sign assertions. */
  certificates: readonly string[];
}

const bindings = {
  redirect: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect',
  post: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST',
} as const;
const { metadata, signature } = samlNamespaces;
const protocolName = 'urn:oasis:names:tc:SAML:2.0:protocol';

/**
 * Reads the metadata of one identity provider.
 *
 * @param httpsOnly refuses sign-on services without TLS
 * @throws Error with the reason
 */
export function parseIdpMetadata(text: string, { httpsOnly }: { httpsOnly: boolean }): IdpMetadata {
  const root = parseXml(text, { allowsComments: true });
  if (!root) throw new Error('the metadata is not XML, or has a document type');
  const providers = allElements(root).filter(
    ({ localName, namespaceURI }) => localName === 'IDPSSODescriptor' && namespaceURI === metadata,
  );
  const [provider, second] = providers.filter((one) => readAttribute(one, 'protocolSupportEnumeration').includes(protocolName)); // prettier-ignore
  const entityId = readAttribute(root, 'entityID');
  if (root.localName !== 'EntityDescriptor' || root.namespaceURI !== metadata || !provider || second || !entityId) {
    throw new Error('the metadata must describe exactly one identity provider of SAML 2.0');
  }
  const certificates = readCertificates(provider);
  if (certificates.length === 0) throw new Error('the metadata has no certificate for signatures');
  const signOn = Object.fromEntries(
    Object.entries(bindings).flatMap(([name, uri]) => {
      const service = children(provider, 'SingleSignOnService', metadata).find((one) => readAttribute(one, 'Binding') === uri); // prettier-ignore
      return service ? [[name, toServiceUrl(readAttribute(service, 'Location'), httpsOnly)]] : [];
    }),
  );
  return { entityId, signOn, certificates };
}

function readCertificates(provider: XmlElement): string[] {
  const signing = children(provider, 'KeyDescriptor', metadata).filter((key) => readAttribute(key, 'use') !== 'encryption'); // prettier-ignore
  const texts = signing.flatMap((key) =>
    allElements(key).filter((one) => one.localName === 'X509Certificate' && one.namespaceURI === signature),
  );
  return [...new Set(texts.map((one) => toPem(textContent(one))))];
}

/** Parsed, so that a broken certificate is reported at once. */
function toPem(base64: string): string {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64')).toString();
  } catch (cause) {
    throw new Error('the metadata has a certificate that cannot be read', { cause });
  }
}

function toServiceUrl(location: string, httpsOnly: boolean): string {
  const url = URL.canParse(location) ? new URL(location) : undefined;
  const isPermitted = url?.protocol === 'https:' || (url?.protocol === 'http:' && !httpsOnly);
  if (!url || !isPermitted || url.username || url.password) {
    throw new Error('the sign-on service of the provider must be an https:// URL');
  }
  return url.href;
}

const readAttribute = (element: XmlElement, name: string): string => (element.getAttribute(name) ?? '').trim();
