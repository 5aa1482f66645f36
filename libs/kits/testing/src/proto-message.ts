import fc from 'fast-check';
import type { Field, Type } from 'protobufjs';
import { Enum, MapField, Type as MessageType } from 'protobufjs';
import { hostileText } from './fuzz';

type Value = fc.Arbitrary<unknown>;

/** Maximum nesting of messages. */
const maxDepth = 3;

const int32 = fc.oneof(fc.constantFrom(0, 1, -1, 2 ** 31 - 1, -(2 ** 31)), fc.integer());
const uint32 = fc.oneof(fc.constantFrom(0, 1, 2 ** 32 - 1), fc.nat());
const int64 = fc.constantFrom('0', '1', '-1', '9223372036854775807', '-9223372036854775808', '9007199254740993');
const uint64 = fc.constantFrom('0', '1', '18446744073709551615');
const float = fc.oneof(fc.constantFrom(0, -0, NaN, Infinity, -Infinity, 1e39, 5e-324), fc.double());

/** Without lone surrogates, which UTF-8 cannot encode. */
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
 * Generates messages from the declaration of a type, in the form that protobufjs encodes: any field may be missing or hold an
 * extreme number, hostile text or an unknown enum value.
 *
 * @param choices valid values of string fields by name, so that some messages pass validation; these fields are always set
 */
export function protoMessage(
  type: Type,
  choices: Readonly<Record<string, readonly string[]>> = {},
  depth = maxDepth,
): fc.Arbitrary<Record<string, unknown>> {
  type.resolveAll();
  const fields = type.fieldsArray.filter((field) => depth > 0 || !(field.resolvedType instanceof MessageType));
  // In a `oneof`, the last field written is the one in effect.
  return fc.record(Object.fromEntries(fields.map((field) => [field.name, toFieldValue(field, choices, depth)])), {
    requiredKeys: fields.map(({ name }) => name).filter((name) => name in choices),
  });
}

function toFieldValue(field: Field, choices: Readonly<Record<string, readonly string[]>>, depth: number): Value {
  const known = choices[field.name];
  const one = known
    ? fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, wellFormed)
    : toSingleValue(field, choices, depth);
  if (field instanceof MapField) return fc.dictionary(wellFormed, one, { maxKeys: 3 });
  return field.repeated ? fc.array(one, { maxLength: 3 }) : one;
}

function toSingleValue(
  { resolvedType, type, name }: Field,
  choices: Readonly<Record<string, readonly string[]>>,
  depth: number,
): Value {
  if (resolvedType instanceof MessageType) return protoMessage(resolvedType, choices, depth - 1);
  if (resolvedType instanceof Enum) {
    return fc.constantFrom(...Object.values(resolvedType.values), 99, -1, 2 ** 31 - 1);
  }
  const scalar = scalars[type];
  if (!scalar) throw new Error(`${name}: no generator for type ${type}`);
  return scalar;
}
