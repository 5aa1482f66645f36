import { Writer } from 'protobufjs/minimal';
import { fieldsOf } from './readable';

const JOB_REQUEST_FIELD = 10;
const GRANT_FIELD = 1010;
const LENGTH_DELIMITED = 2;
const toTag = (field: number) => (field << 3) | LENGTH_DELIMITED;

export interface GrantedRequest {
  /** The request as it was sent, without its grant: what the grant covers. */
  request: Uint8Array;
  /** Empty when the request has none. */
  grant: Uint8Array;
}

/**
 * Separates the grant of a dispatch from the bytes that it covers. These are the received bytes, so that fields which this
 * version does not know are covered as well. Undefined when the packet is not readable, or has several requests or grants:
 * a decoder would merge them.
 */
export function splitGrant(packet: Uint8Array): GrantedRequest | undefined {
  try {
    const requests = contents(packet, JOB_REQUEST_FIELD);
    const [content] = requests;
    if (!content || requests.length > 1) return undefined;
    const grants = contents(content, GRANT_FIELD);
    if (grants.length > 1) return undefined;
    const [grant] = grants;
    return grant ? { request: without(content, GRANT_FIELD), grant } : { request: content, grant: new Uint8Array() };
  } catch {
    return undefined;
  }
}

/**
 * Adds a grant to an encoded dispatch that has none.
 *
 * @param packet in its deterministic encoding, so that a later signature of the packet does not change the covered bytes
 * @param sign returns the grant for the bytes of a request
 */
export function withGrant(packet: Uint8Array, sign: (request: Uint8Array) => Uint8Array): Uint8Array {
  const writer = Writer.create();
  for (const { tag, raw, content } of fieldsOf(packet)) {
    if (tag !== toTag(JOB_REQUEST_FIELD) || !content) {
      writer.raw(raw);
      continue;
    }
    const grant = Writer.create().uint32(toTag(GRANT_FIELD)).bytes(sign(content)).finish();
    writer.uint32(tag).bytes(Buffer.concat([content, grant]));
  }
  return writer.finish();
}

/** The values of a field that must have a length. @throws Error when one has another type */
function contents(message: Uint8Array, field: number): Uint8Array[] {
  const found: Uint8Array[] = [];
  for (const { tag, content } of fieldsOf(message)) {
    if (tag >>> 3 !== field) continue;
    if (!content) throw new Error('not length-delimited');
    found.push(content);
  }
  return found;
}

const without = (message: Uint8Array, field: number): Uint8Array =>
  Buffer.concat([...fieldsOf(message)].filter(({ tag }) => tag >>> 3 !== field).map(({ raw }) => raw));
