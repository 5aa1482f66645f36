import { fuzzed, fuzzTimeoutMs, mutatedBytes, protoMessage } from '@svc/testing';
import fc from 'fast-check';
import { Root } from 'protobufjs';
import { decodePacket, encodePacket, maxPacketBytes } from './packets';
import { canonicalPacket } from './proto/canonical';
import { protoDescriptor } from './proto/descriptor';
import { WireErrorCode } from './proto/messages';
import { packetToJson } from './proto/packet-json';
import { messageId, subjects } from './subjects';

jest.setTimeout(fuzzTimeoutMs());

const busPacket = Root.fromJSON(protoDescriptor).lookupType('svc.agent.v1.BusPacket');
const packetBytes = protoMessage(busPacket)
  .chain((message) => fc.record({ message: fc.constant(message), version: fc.constantFrom(1, 1, 1, 0, 2) }))
  .map(({ message, version }) =>
    busPacket.encode(busPacket.fromObject({ ...message, protocol_version: version })).finish(),
  );
const bytes = fc.oneof(packetBytes, mutatedBytes(packetBytes), fc.uint8Array({ maxLength: 200 }));

/** Any bytes decode to a declared outcome, and an accepted packet can be encoded in every form. */
function read(given: Uint8Array): void {
  const decoded = decodePacket(given);
  if (decoded.kind !== 'ok') {
    expect(WireErrorCode[decoded.code]).toBeDefined();
    expect(decoded.reason).not.toBe('');
  }
  if (decoded.kind !== 'ok' && decoded.kind !== 'invalid') return;
  const { packet } = decoded;
  expect(JSON.stringify(packetToJson(packet))).not.toContain('authToken');
  expect(decodePacket(encodePacket(packet)).kind).toBe(decoded.kind);
  expect(canonicalPacket(packet)).toBeInstanceOf(Uint8Array);
  messageId(subjects.jobResult.name, packet);
}

describe('bytes from the bus', () => {
  it('are accepted as a packet, or rejected with a code and a reason', () => {
    fc.assert(fc.property(bytes, read), fuzzed(500));
  });

  it.each([0, 1, maxPacketBytes, maxPacketBytes + 1, maxPacketBytes * 10])(
    '%d bytes of nothing are refused',
    (length) => {
      const refused = decodePacket(new Uint8Array(length));

      expect(['malformed', 'version', 'unknown_payload']).toContain(refused.kind);
    },
  );
});
