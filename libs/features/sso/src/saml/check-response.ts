import { ssoLimits } from '@svc/contract';
import { allElements, childElements, children, parseXml, samlNamespaces, textContent, type XmlElement } from './xml';

/** A reason to refuse a response; none of the text of the provider is part of it. */
export class ResponseRefused extends Error {}

export interface ExpectedResponse {
  /** URL of the assertion consumer service. */
  acsUrl: string;
  idpEntityId: string;
  audience: string;
  /** Id of the request; undefined for a sign-in that began at the provider. */
  request: string | undefined;
  nowMs: number;
}

/** Accepted difference between the clocks of the provider and this service. */
export const CLOCK_SKEW_MS = 60_000;

const { assertion: assertionSpace, protocol, signature } = samlNamespaces;
const successStatus = 'urn:oasis:names:tc:SAML:2.0:status:Success';
const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';

const algorithms: readonly string[] = [
  ...['rsa-sha256', 'rsa-sha384', 'rsa-sha512', 'ecdsa-sha256', 'ecdsa-sha384', 'ecdsa-sha512'].map(
    (name) => `http://www.w3.org/2001/04/xmldsig-more#${name}`,
  ),
  'http://www.w3.org/2001/04/xmlenc#sha256',
  'http://www.w3.org/2001/04/xmldsig-more#sha384',
  'http://www.w3.org/2001/04/xmlenc#sha512',
];

/**
 * Checks the form of a response before any signature: its size, its elements, its addressee and its algorithms. What passes has
 * exactly one assertion, so that the one that is verified is the one that is read.
 *
 * @param encoded base64
 * @throws ResponseRefused
 */
export function checkResponse(encoded: string, expected: ExpectedResponse): void {
  const root = readDocument(encoded);
  const elements = allElements(root);
  const named = (...names: string[]) => elements.filter(({ localName }) => names.includes(localName));
  const pick = (parent: string, method: string) =>
    named(parent).flatMap((one) => children(one, method, signature).map((found) => found.getAttribute('Algorithm') ?? ''));
  refuseUnless(root.localName === 'Response' && root.namespaceURI === protocol, 'it is no response of SAML 2.0');
  refuseUnless(named('Response').length === 1, 'it contains another response');
  const [only, second] = named('Assertion', 'EncryptedAssertion');
  refuseUnless(hasSuccess(root), 'the provider reports no success');
  refuseUnless(only !== undefined && second === undefined, 'it must have exactly one assertion');
  refuseUnless(childElements(root).some((child) => child === only), 'the assertion is not at its place');
  refuseUnless(only?.namespaceURI === assertionSpace, 'the assertion is of another namespace');
  refuseUnless(hasUniqueIds(elements), 'two elements have the same id');
  refuseUnless(root.getAttribute('Destination') === expected.acsUrl, 'it is for another destination');
  const issuer = children(root, 'Issuer', assertionSpace).map(textContent);
  refuseUnless(issuer.every((name) => name === expected.idpEntityId), 'it is of another issuer');
  const inResponseTo = root.getAttribute('InResponseTo') || undefined;
  refuseUnless(inResponseTo === expected.request, 'it is for another request');
  // Others, such as the digest inside of an encryption method, verify nothing.
  const used = [...pick('SignedInfo', 'SignatureMethod'), ...pick('Reference', 'DigestMethod')];
  refuseUnless(used.every((name) => algorithms.includes(name)), 'its signature has a weak algorithm');
} // prettier-ignore

function readDocument(encoded: string): XmlElement {
  const base64 = encoded.replace(/[\r\n\t ]/g, '');
  refuseUnless(/^[A-Za-z0-9+/]+={0,2}$/.test(base64), 'it is not base64');
  const bytes = Buffer.from(base64, 'base64');
  refuseUnless(bytes.length <= ssoLimits.samlBytes, 'it is too large');
  const text = bytes.toString('utf8');
  refuseUnless(Buffer.from(text, 'utf8').equals(bytes), 'it is not UTF-8');
  const root = parseXml(text);
  if (!root) throw new ResponseRefused('it is no XML, or has a document type, comments or instructions');
  return root;
}

const hasSuccess = (root: XmlElement): boolean =>
  children(root, 'Status', protocol)
    .flatMap((status) => children(status, 'StatusCode', protocol))
    .some((code) => code.getAttribute('Value') === successStatus);

function hasUniqueIds(elements: readonly XmlElement[]): boolean {
  const ids = elements.flatMap(({ attributes }) =>
    Array.from({ length: attributes.length }, (_, i) => attributes.item(i)).flatMap((attribute) =>
      attribute && attribute.localName.toLowerCase() === 'id' ? [attribute.value] : [],
    ),
  );
  return new Set(ids).size === ids.length;
}

/** A verified assertion. */
export interface Assertion {
  id: string;
  nameId: string;
  /** The provider makes a new name for each sign-in. */
  isTransient: boolean;
  /** Values by Name and FriendlyName, in lower case. */
  attributes: ReadonlyMap<string, readonly string[]>;
  /** The last time at which it is accepted (ms). */
  untilMs: number;
}

/**
 * Reads the assertion that the signature covers, and checks that it is for this service, this request and this time.
 *
 * @param xml the verified text, not the message
 * @throws ResponseRefused
 */
export function readAssertion(xml: string, expected: ExpectedResponse): Assertion {
  const root = parseXml(xml);
  if (!root || root.localName !== 'Assertion' || root.namespaceURI !== assertionSpace)
    throw new ResponseRefused('it has no assertion');
  const only = (parent: XmlElement, name: string): XmlElement => {
    const [found, second] = children(parent, name, assertionSpace);
    if (!found || second) throw new ResponseRefused(`the assertion must have one ${name}`);
    return found;
  };
  refuseUnless(textContent(only(root, 'Issuer')) === expected.idpEntityId, 'the assertion is of another issuer');
  const id = root.getAttribute('ID') ?? '';
  refuseUnless(id !== '', 'the assertion has no id');
  const subject = only(root, 'Subject');
  const name = only(subject, 'NameID');
  const nameId = textContent(name);
  const confirmedUntilMs = checkConfirmations(subject, expected);
  checkConditions(only(root, 'Conditions'), expected);
  refuseUnless(children(root, 'AuthnStatement', assertionSpace).length > 0, 'the assertion reports no sign-in');
  return {
    id,
    nameId,
    isTransient: (name.getAttribute('Format') ?? '').endsWith(':transient'),
    attributes: readAttributes(root),
    untilMs: confirmedUntilMs + CLOCK_SKEW_MS,
  };
}

/** All bearer confirmations must be valid: an assertion is for one recipient. @returns their earliest end (ms) */
function checkConfirmations(subject: XmlElement, { acsUrl, request, nowMs }: ExpectedResponse): number {
  const confirmations = children(subject, 'SubjectConfirmation', assertionSpace).filter((one) => one.getAttribute('Method') === bearer); // prettier-ignore
  refuseUnless(confirmations.length > 0, 'the assertion has no bearer confirmation');
  const ends = confirmations.map((confirmation) => {
    const [data] = children(confirmation, 'SubjectConfirmationData', assertionSpace);
    refuseUnless(data?.getAttribute('Recipient') === acsUrl, 'the assertion is for another recipient');
    refuseUnless((data?.getAttribute('InResponseTo') || undefined) === request, 'the assertion is for another request');
    const untilMs = Date.parse(data?.getAttribute('NotOnOrAfter') ?? '');
    refuseUnless(nowMs < untilMs + CLOCK_SKEW_MS, 'the assertion has expired');
    return untilMs;
  });
  return Math.min(...ends);
}

function checkConditions(conditions: XmlElement, { audience, nowMs }: ExpectedResponse): void {
  const [from, until] = ['NotBefore', 'NotOnOrAfter'].map((name) => conditions.getAttribute(name) || undefined);
  refuseUnless(from === undefined || Date.parse(from) - CLOCK_SKEW_MS <= nowMs, 'the assertion is not valid yet');
  refuseUnless(until === undefined || nowMs < Date.parse(until) + CLOCK_SKEW_MS, 'the assertion has expired');
  const restrictions = children(conditions, 'AudienceRestriction', assertionSpace);
  const isFor = (one: XmlElement) => children(one, 'Audience', assertionSpace).some((name) => textContent(name) === audience); // prettier-ignore
  refuseUnless(restrictions.length > 0 && restrictions.every(isFor), 'the assertion is for another audience');
}

function readAttributes(root: XmlElement): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  const attributes = children(root, 'AttributeStatement', assertionSpace).flatMap((one) => children(one, 'Attribute', assertionSpace)); // prettier-ignore
  for (const attribute of attributes) {
    const values = children(attribute, 'AttributeValue', assertionSpace).map(textContent);
    for (const name of [attribute.getAttribute('Name'), attribute.getAttribute('FriendlyName')]) {
      const key = name?.trim().toLowerCase();
      if (key && !found.has(key)) found.set(key, values);
    }
  }
  return found;
}

function refuseUnless(isMet: boolean, reason: string): void {
  if (!isMet) throw new ResponseRefused(reason);
}
