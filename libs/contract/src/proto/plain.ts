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

const isLong = (value: unknown): value is { toNumber(): number } =>
  typeof value === 'object' && value !== null && typeof (value as { toNumber?: unknown }).toNumber === 'function';

const scalars = new Set(['string', 'number', 'boolean', 'undefined']);

/**
 * A decoded message as a plain object that owns every field. The decoder's own objects keep defaults on their prototype,
 * where a spread or a comparison loses them.
 */
export function plainMessage(message: object): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  // Inherited fields too: these are the defaults.
  for (const field in message) {
    const value = (message as Record<string, unknown>)[field];
    if (value === null || field === '$unknowns') continue;
    plain[field] = plainValue(field, value);
  }
  return plain;
}

function plainValue(field: string, value: unknown): unknown {
  if (typeof value === 'number' && field in closedEnums) return closedEnums[field]?.[value] === undefined ? 0 : value;
  if (scalars.has(typeof value) || value instanceof Uint8Array) return value;
  // The runtime reads 64-bit integers as Long objects wherever that package is installed.
  if (isLong(value)) return value.toNumber();
  if (Array.isArray(value)) return value.map((item: unknown) => plainItem(item));
  return mapFields.has(field) ? { ...(value as object) } : plainMessage(value as object);
}

/** Lists hold scalars or messages, never maps. */
const plainItem = (item: unknown): unknown =>
  typeof item === 'object' && item !== null && !(item instanceof Uint8Array) ? plainMessage(item) : item;
