import { hash } from 'node:crypto';
import type { svc } from './generated/bus';
import { wire, type JobRequestDraft } from './messages';
import { rawPacket, type Packet } from '../packets';

/**
 * The deterministic encoding of a request: fields in ascending number, maps sorted by the bytes of their keys, defaults
 * and unknown fields omitted.
 */
export function canonicalJobRequest(request: JobRequestDraft): Uint8Array {
  return wire.JobRequest.encode(ordered(request) as svc.agent.v1.JobRequest.$Properties).finish();
}

/** The deterministic encoding of a packet without its signature: the input of packet signatures. */
export function canonicalPacket(packet: Packet): Uint8Array {
  return wire.BusPacket.encode(ordered({ ...rawPacket(packet), signature: null }) as object).finish();
}

/** A copy of a message whose maps are encoded in the order of their keys. */
export const canonicalMessage = (message: object): object => ordered(message) as object;

/** Labels and env that the platform adds after the decision, excluded from the hash. */
const unhashedLabel = (name: string) =>
  name.startsWith('approval_') || name === 'svc.bus_msg_id' || name === 'policy.attachment_id';
const unhashedEnv = (name: string) => name === 'SVC_EFFECTIVE_CONFIG';

/**
 * The hash to which an approval is bound: SHA-256, in hex, of the deterministic encoding of the request without the
 * fields that the platform adds afterwards. See docs/reference/jobs.md#approvals.
 */
export function jobHash(request: JobRequestDraft): string {
  const hashed = {
    ...request,
    labels: without(request.labels, unhashedLabel),
    env: without(request.env, unhashedEnv),
    dispatch: null,
    inline_input: null,
    result_ticket: null,
    grant: null,
  };
  return hash('sha256', canonicalJobRequest(hashed), 'hex');
}

const without = (map: Record<string, string> | null | undefined, left: (name: string) => boolean) =>
  map && Object.keys(map).some(left) ? Object.fromEntries(Object.entries(map).filter(([name]) => !left(name))) : map;

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** ASCII sorts the same as text and as bytes. */
const isPlain = (key: string) => /^[\x20-\x7e]*$/.test(key);
/** Objects list such keys first and in their own order, whenever they were set. */
const looksLikeANumber = (key: string) => /^\d/.test(key);

/** The values of the protocol's maps. The encoder writes any other object, a message, by field number. */
const isMapValue = (value: unknown): boolean => typeof value === 'string' || typeof value === 'boolean';

/**
 * A copy whose maps list their keys in byte order, which is the order in which the encoder writes them. A message whose
 * fields are all text is sorted as well, without effect.
 */
function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(ordered);
  const source = value as Record<string, unknown>;
  const keys = Object.keys(source);
  const isMap = keys.every((key) => isMapValue(source[key]));
  if (isMap && keys.length < 2) return value;
  if (isMap) keys.sort(keys.every(isPlain) ? undefined : byBytes);
  const copy: Record<string, unknown> = {};
  for (const key of keys) define(copy, key, isMap ? source[key] : ordered(source[key]));
  // A sorted copy does not do where keys look like numbers.
  return isMap && keys.some(looksLikeANumber) ? new Proxy(copy, { ownKeys: () => keys }) : copy;
}

/** Also for a key such as `__proto__`, which is a label like any other. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, configurable: true });
  else target[key] = value;
}
