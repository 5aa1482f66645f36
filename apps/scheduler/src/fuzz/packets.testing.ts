import { protoDescriptor, type PayloadKind } from '@svc/contract';
import { hostileText, mutatedBytes, protoMessage } from '@svc/testing';
import fc from 'fast-check';
import { Root } from 'protobufjs';

const busPacket = Root.fromJSON(protoDescriptor).lookupType('svc.agent.v1.BusPacket');
busPacket.root.resolveAll();

/** Every payload kind of a packet, from its declaration. */
export const payloadKinds = (busPacket.oneofs['payload']?.oneof ?? []) as PayloadKind[]; // the contract's own list of names

type Fields = Readonly<Record<string, unknown>>;

/** The bytes of a packet, of whatever the fields say. */
export const packetBytes = (fields: Fields): Uint8Array =>
  busPacket.encode(busPacket.fromObject({ protocol_version: 1, ...fields })).finish();

/**
 * Packets of one kind with any field missing, extreme or hostile.
 *
 * @param choices by field name, values that mean something to the reader, such as the ids of jobs that exist
 */
export function hostilePacket(
  kind: PayloadKind,
  choices: Readonly<Record<string, readonly string[]>>,
): fc.Arbitrary<Uint8Array> {
  const { resolvedType } = busPacket.fields[kind]?.resolve() ?? {};
  if (!resolvedType || !('fieldsArray' in resolvedType)) throw new Error(`a packet has no payload ${kind}`);
  const text = hostileText.map((any) => Buffer.from(any).toString());
  const head = fc.record({ trace_id: text, sender_id: fc.oneof(fc.constantFrom('', ...(choices['worker_id'] ?? [])), text), auth_token: text }); // prettier-ignore
  const created = fc.record({ seconds: fc.constantFrom(0, -1, 1_790_000_000, 2 ** 53), nanos: fc.constantFrom(0, -1, 999_999_999, 2 ** 31 - 1) }); // prettier-ignore
  return fc
    .tuple(head, fc.option(created, { nil: undefined }), protoMessage(resolvedType, choices))
    .map(([fields, created_at, body]) => packetBytes({ ...fields, ...(created_at && { created_at }), [kind]: body }));
}

/** The same, broken as bytes break. */
export const brokenPacket = (kind: PayloadKind): fc.Arbitrary<Uint8Array> =>
  fc.oneof(mutatedBytes(hostilePacket(kind, {})), fc.uint8Array({ maxLength: 200 }));
