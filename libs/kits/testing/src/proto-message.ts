import fc from 'fast-check';
import type { Field, Type } from 'protobufjs';
import { Enum, MapField, Type as MessageType } from 'protobufjs';
import { hostileText } from './fuzz';

type Value = fc.Arbitrary<unknown>;

/** How deep messages within messages go. */
const maxDepth = 3;

const int32 = fc.oneof(fc.constantFrom(0, 1, -1, 2 ** 31 - 1, -(2 ** 31)), fc.integer());
const uint32 = fc.oneof(fc.constantFrom(0, 1, 2 ** 32 - 1), fc.nat());
const int64 = fc.constantFrom('0', '1', '-1', '9223372036854775807', '-9223372036854775808', '9007199254740993');
const uint64 = fc.constantFrom('0', '1', '18446744073709551615');
const float = fc.oneof(fc.constantFrom(0, -0, NaN, Infinity, -Infinity, 1e39, 5e-324), fc.double());

/** Strings on the wire are UTF-8, in which half a surrogate pair cannot be written. */
const wellFormed = hostileText.map((text) => Buffer.from(text).toString());

const scalars: Readonly<Record<string, Value>> = {
  string: wellFormed,
  bytes: fc.uint8Array({ maxLength: 40 }),
  bool: fc.boolean(),
  double: float,
  float,
  int32,
  sint32: int32,
  sfixed32: int32,
  uint32,
  fixed32: uint32,
  int64,
  sint64: int64,
  sfixed64: int64,
  uint64,
  fixed64: uint64,
};

/**
 * Messages of a type, read off its declaration: any field may be missing, hold an extreme, hostile text, or a number that
 * its enum does not know. In the form that protobufjs encodes.
 *
 * @param choices values of string fields by name that the reader understands, so that some messages get past its
 *   checks; these fields are always there
 */
export function protoMessage(
  type: Type,
  choices: Readonly<Record<string, readonly string[]>> = {},
  depth = maxDepth,
): fc.Arbitrary<Record<string, unknown>> {
  type.resolveAll();
  const fields = type.fieldsArray.filter((field) => depth > 0 || !(field.resolvedType instanceof MessageType));
  // Of the fields of a `oneof` only the last written one counts.
  return fc.record(Object.fromEntries(fields.map((field) => [field.name, fieldOf(field, choices, depth)])), {
    requiredKeys: fields.map(({ name }) => name).filter((name) => name in choices),
  });
}

function fieldOf(field: Field, choices: Readonly<Record<string, readonly string[]>>, depth: number): Value {
  const known = choices[field.name];
  const one = known
    ? fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, wellFormed)
    : valueOf(field, choices, depth);
  if (field instanceof MapField) return fc.dictionary(wellFormed, one, { maxKeys: 3 });
  return field.repeated ? fc.array(one, { maxLength: 3 }) : one;
}

function valueOf(
  { resolvedType, type, name }: Field,
  choices: Readonly<Record<string, readonly string[]>>,
  depth: number,
): Value {
  if (resolvedType instanceof MessageType) return protoMessage(resolvedType, choices, depth - 1);
  if (resolvedType instanceof Enum) {
    return fc.constantFrom(...Object.values(resolvedType.values), 99, -1, 2 ** 31 - 1);
  }
  const scalar = scalars[type];
  if (!scalar) throw new Error(`${name}: no values are known for ${type}`);
  return scalar;
}
