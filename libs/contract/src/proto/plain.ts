import { wire } from './messages';

/** Enum of each field that has one. Error codes are open: applications use numbers without a name. */
export const closedEnums: Readonly<Record<string, Readonly<Record<number, unknown>>>> = {
  priority: wire.JobPriority,
  status: wire.JobStatus,
  actor_type: wire.ActorType,
  severity: wire.AlertSeverity,
  role: wire.ComponentRole,
  proof_algorithm: wire.WorkerHandshakeProofAlgorithm,
  purpose: wire.WorkerHandshakePurpose,
  rejection_reason: wire.WorkerHandshakeRejectionReason,
};

/** Fields that are maps: their keys are data. */
export const mapFields: ReadonlySet<string> = new Set(['env', 'labels', 'details', 'capabilities']);

/** A 64-bit integer as a number; the runtime reads it as a Long object wherever that package is installed. */
export const toInteger = (value: number | { toNumber(): number }): number =>
  typeof value === 'number' ? value : value.toNumber();

const isLong = (value: unknown): value is { toNumber(): number } =>
  typeof value === 'object' && value !== null && typeof (value as { toNumber?: unknown }).toNumber === 'function';

const scalars = new Set(['string', 'number', 'boolean', 'undefined']);

/** Fields by prototype of a decoded message. Listing inherited fields of each message is slow. */
const fieldLists = new WeakMap<object, readonly string[]>();

/** The decoder keeps a default of every field on the prototype, so all messages of a type have the same fields. */
function listFields(message: object): readonly string[] {
  const prototype = Object.getPrototypeOf(message) as object;
  if (prototype === Object.prototype) return Object.keys(message);
  let fields = fieldLists.get(prototype);
  if (!fields) {
    fields = [];
    for (const field in prototype) (fields as string[]).push(field);
    fieldLists.set(prototype, fields);
  }
  return fields;
}

/**
 * A decoded message as a plain object that owns every field. The decoder's own objects keep defaults on their prototype,
 * where a spread or a comparison loses them.
 */
export function plainMessage(message: object): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const field of listFields(message)) {
    const value = (message as Record<string, unknown>)[field];
    if (typeof value === 'string') plain[field] = value;
    else if (value !== null) plain[field] = plainValue(field, value);
  }
  return plain;
}

function plainValue(field: string, value: unknown): unknown {
  if (typeof value === 'number' && field in closedEnums) return closedEnums[field]?.[value] === undefined ? 0 : value;
  if (scalars.has(typeof value) || value instanceof Uint8Array) return value;
  if (isLong(value)) return toInteger(value);
  if (Array.isArray(value)) return value.map((item: unknown) => plainItem(item));
  return mapFields.has(field) ? { ...(value as object) } : plainMessage(value as object);
}

/** Lists hold scalars or messages, never maps. */
const plainItem = (item: unknown): unknown =>
  typeof item === 'object' && item !== null && !(item instanceof Uint8Array) ? plainMessage(item) : item;
