import { Reader, Writer } from 'protobufjs/minimal';
import { wire } from './messages';

/**
 * Optional message fields of the payloads that workers send, by the payload's number in the packet. Workers built before
 * these fields existed may use the same numbers for something else.
 */
const optionalFields = new Map([
  [11, { codec: wire.JobResult, fields: new Set([10, 11, 12, 13]) }],
  [15, { codec: wire.JobProgress, fields: new Set([8, 9, 10, 11]) }],
]);
type Optional = NonNullable<ReturnType<(typeof optionalFields)['get']>>;

const lengthDelimited = 2;

/**
 * The packet without the optional fields that cannot be decoded. Such a worker is treated like one that does not echo its
 * dispatch.
 *
 * @returns undefined when the packet is unreadable for another reason
 */
export function withoutUnreadableFields(bytes: Uint8Array): Uint8Array | undefined {
  try {
    const writer = Writer.create();
    let removed = 0;
    for (const { tag, raw, content } of fieldsOf(bytes)) {
      const payload = content && optionalFields.get(tag >>> 3);
      if (!payload) {
        writer.raw(raw);
        continue;
      }
      const kept = readableFields(content, payload);
      removed += content.length - kept.length;
      writer.uint32(tag).bytes(kept);
    }
    return removed > 0 ? writer.finish() : undefined;
  } catch {
    return undefined;
  }
}

function readableFields(content: Uint8Array, { codec, fields }: Optional): Uint8Array {
  const kept = [...fieldsOf(content)].filter(({ tag, raw }) => !fields.has(tag >>> 3) || isReadable(codec, raw));
  return Buffer.concat(kept.map(({ raw }) => raw));
}

function isReadable(codec: Optional['codec'], raw: Uint8Array): boolean {
  try {
    codec.decode(raw);
    return true;
  } catch {
    return false;
  }
}

interface RawField {
  tag: number;
  /** Tag and value. */
  raw: Uint8Array;
  /** Value of a length-delimited field. */
  content?: Uint8Array;
}

/** The fields of an encoded message, in the order they were sent. @throws Error when it is unreadable */
export function* fieldsOf(bytes: Uint8Array): Generator<RawField> {
  const reader = Reader.create(bytes);
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const tag = reader.uint32();
    const content = (tag & 7) === lengthDelimited ? reader.bytes() : undefined;
    if (!content) reader.skipType(tag & 7);
    yield { tag, raw: bytes.subarray(start, reader.pos), ...(content && { content }) };
  }
}
