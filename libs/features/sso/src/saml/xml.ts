import { DOMParser } from '@xmldom/xmldom';

/** The part of a DOM element that is used here. */
export interface XmlElement {
  readonly localName: string;
  readonly namespaceURI: string | null;
  readonly textContent: string | null;
  readonly childNodes: { readonly length: number; item(index: number): unknown };
  readonly attributes: { readonly length: number; item(index: number): { localName: string; value: string } | null };
  getAttribute(name: string): string | null;
}

export const samlNamespaces = {
  assertion: 'urn:oasis:names:tc:SAML:2.0:assertion',
  protocol: 'urn:oasis:names:tc:SAML:2.0:protocol',
  metadata: 'urn:oasis:names:tc:SAML:2.0:metadata',
  signature: 'http://www.w3.org/2000/09/xmldsig#',
} as const;

/** Levels of elements; deeper documents are refused, because parsers and this code recurse. */
const MAX_DEPTH = 64;

/**
 * Parses a message without document type, processing instructions, comments and CDATA sections. No provider sends them, and
 * each has been used to make a verified text differ from the text that is read.
 *
 * @param allowsComments metadata, which people edit
 * @returns the root element; undefined for other texts
 */
export function parseXml(text: string, { allowsComments = false } = {}): XmlElement | undefined {
  const body = text.replace(/^\uFEFF?\s*<\?xml [^<>]*\?>/, '');
  const plain = allowsComments ? body.replace(/<!--(?:(?!--)[^])*-->/g, '') : body;
  if (/<[!?]/.test(plain) || isTooDeep(plain)) return undefined;
  try {
    const parser = new DOMParser({
      onError: (level, message) => {
        throw new Error(`${level}: ${message}`);
      },
    });
    return (parser.parseFromString(plain, 'text/xml').documentElement as XmlElement | null) ?? undefined;
  } catch {
    return undefined;
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    if (text[at + 1] === '/') depth -= 1;
    else if (++depth > MAX_DEPTH) return true;
    const end = text.indexOf('>', at);
    if (end > 0 && text[end - 1] === '/') depth -= 1;
  }
  return false;
}

const isElement = (node: unknown): node is XmlElement =>
  typeof node === 'object' && node !== null && 'nodeType' in node && node.nodeType === 1;

export function childElements({ childNodes }: XmlElement): XmlElement[] {
  const nodes = Array.from({ length: childNodes.length }, (_, i) => childNodes.item(i));
  return nodes.filter(isElement);
}

/** Child elements of a name, of the namespace only. */
export const children = (parent: XmlElement, name: string, namespace: string): XmlElement[] =>
  childElements(parent).filter(({ localName, namespaceURI }) => localName === name && namespaceURI === namespace);

/** An element and all below it. */
export function allElements(root: XmlElement): XmlElement[] {
  const found: XmlElement[] = [root];
  for (const element of found) found.push(...childElements(element));
  return found;
}

export const textContent = ({ textContent: text }: XmlElement): string => (text ?? '').trim();
