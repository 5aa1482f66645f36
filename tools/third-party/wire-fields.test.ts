import { protoDescriptor } from '@svc/contract';
import { execFileSync } from 'node:child_process';
import { Enum, MapField, Namespace, Root, Type, type Field } from 'protobufjs';
import { requirePython, scriptPath } from './python';

interface WireField {
  number: number;
  name: string;
  type: string;
}
interface Tables {
  messages: Record<string, WireField[]>;
  enums: Record<string, Record<string, string>>;
}

const firstExtension = 1_000;
/** Names of error codes include the group in the package, but not in the contract's table. */
const isGrouped = (name: string) => /^ERROR_CODE_(PROTOCOL|JOB|SAFETY|TRANSPORT)_/.test(name);

const published = JSON.parse(
  execFileSync(requirePython(), [scriptPath('field_tables.py')], { encoding: 'utf8' }),
) as Tables;
const ours = Root.fromJSON(protoDescriptor).resolveAll().lookup('svc.agent.v1');

const named = (name: string): unknown => (ours instanceof Namespace ? ours.get(name) : null);

function listFields(message: string): WireField[] {
  const type: unknown = named(message);
  if (!(type instanceof Type)) throw new Error(`there is no message ${message}`);
  return type.fieldsArray
    .map((field) => ({ number: field.id, name: field.name, type: describeType(field) }))
    .sort((a, b) => a.number - b.number);
}

function describeType(field: Field): string {
  const type = field.resolvedType?.name ?? field.type;
  if (field instanceof MapField) return `map<${field.keyType},${type}>`;
  return field.repeated ? `repeated ${type}` : type;
}

describe('the published package and this platform', () => {
  it.each(Object.entries(published.messages))('agree on every field of %s below 1000', (message, fields) => {
    expect(listFields(message).filter(({ number }) => number < firstExtension)).toEqual(fields);
  });

  it.each(Object.entries(published.enums))('agree on every value of %s', (name, values) => {
    const found: unknown = named(name);

    const byNumber = found instanceof Enum ? found.valuesById : {};
    expect(Object.keys(byNumber)).toEqual(Object.keys(values));
    const differing = Object.entries(values).filter(([number, value]) => byNumber[Number(number)] !== value);
    expect(differing.filter(([, value]) => !isGrouped(value))).toEqual([]);
  });
});
