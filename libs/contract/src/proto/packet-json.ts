import { protocolVersion, type Packet } from '../packets';
import { WireErrorCode } from './messages';
import { closedEnums, mapFields } from './plain';

/**
 * The protojson form that stream clients get: lowerCamelCase names, enums by full name, empty fields left out, `createdAt`
 * as {seconds, nanos} and `protocolVersion` as a string. Never a token or a signature, and no inline data: a result body is
 * readable only after it was scanned.
 */
export function packetToJson(packet: Packet): Record<string, unknown> {
  const seconds = Math.floor(packet.created_at_us / 1e6);
  return {
    traceId: packet.trace_id,
    senderId: packet.sender_id,
    createdAt: { seconds, nanos: Math.round(packet.created_at_us - seconds * 1e6) * 1e3 },
    protocolVersion: String(protocolVersion),
    ...(packet.identity && { identity: messageJson(packet.identity) }),
    [camel(packet.kind)]: messageJson({ ...packet.body, ...withheld }),
  };
}

const withheld = { auth_token: '', inline_input: '', inline_result: '', result_ticket: '', grant: '' };

const camel = (name: string) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

const isEmpty = (value: unknown) => !value || (typeof value === 'object' && Object.keys(value).length === 0);

const messageJson = (message: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(message)
      .filter(
        ([field, value]) =>
          !isEmpty(value) ||
          (typeof value === 'object' && !mapFields.has(field) && !Array.isArray(value) && !ArrayBuffer.isView(value)),
      )
      .map(([field, value]) => [camel(field), valueJson(field, value)]),
  );

function valueJson(field: string, value: unknown): unknown {
  if (typeof value === 'number') return numberJson(field, value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map((item: unknown) => valueJson('', item));
  if (typeof value !== 'object' || value === null) return value;
  return mapFields.has(field) ? value : messageJson(value);
}

function numberJson(field: string, value: number): unknown {
  if (field === 'error_code_enum') return WireErrorCode[value] ?? value;
  const names = closedEnums[field];
  if (names) return names[value];
  // The only fractions on the bus are 32-bit floats: write 12.3, not 12.300000190734863.
  return Number.isInteger(value) ? value : Number(value.toPrecision(7));
}
