import { Enum, MapField, Namespace, OneOf, parse, Type, type Field } from 'protobufjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const source = join(__dirname, '../../libs/contract/src/proto/bus.proto');

export interface WireField {
  field: string;
  number: number;
  type: string;
  meaning: string;
}

export interface WireMessage {
  name: string;
  comment: string;
  fields: WireField[];
}

export interface WireEnum {
  name: string;
  values: { value: string; number: number }[];
}

/** Messages and enums of the bus, in the order of their declaration. */
export function wireTypes(): { messages: WireMessage[]; enums: WireEnum[] } {
  // Read from the .proto source: the generated descriptor holds no comments.
  const { root } = parse(readFileSync(source, 'utf8'), { keepCase: true, alternateCommentMode: true });
  const types = [...nested(root)];
  return {
    messages: types.flatMap((type) => (type instanceof Type ? [toMessage(type)] : [])),
    enums: types.flatMap((type) => (type instanceof Enum ? [toEnum(type)] : [])),
  };
}

function* nested(space: Namespace): Generator<unknown> {
  for (const inner of space.nestedArray) {
    yield inner;
    if (inner instanceof Namespace) yield* nested(inner);
  }
}

const toMessage = ({ name, comment, fieldsArray }: Type): WireMessage => ({
  name,
  comment: toLine(comment),
  fields: fieldsArray.map(toField),
});

const toEnum = ({ name, values }: Enum): WireEnum => ({
  name,
  values: Object.entries(values).map(([value, number]) => ({ value, number })),
});

function toField(field: Field): WireField {
  const { name, id, comment, partOf } = field;
  const isPayload = partOf instanceof OneOf && !partOf.name.startsWith('_');
  const meaning = toLine(comment) || (isPayload ? `One of \`${partOf.name}\`.` : '');
  return { field: name, number: id, type: toType(field), meaning };
}

function toType(field: Field): string {
  if (field instanceof MapField) return `map<${field.keyType}, ${field.type}>`;
  return field.repeated ? `repeated ${field.type}` : field.type;
}

const toLine = (comment: string | null): string => (comment ?? '').replaceAll('\n', ' ');
