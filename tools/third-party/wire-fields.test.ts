import { protoDescriptor } from '@svc/contract';
import { execFileSync } from 'node:child_process';
import { Enum, MapField, Namespace, Root, Type, type Field } from 'protobufjs';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
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

const sdkFolder = resolve(__dirname, '../../sdk/python');
const env = { ...process.env, PYTHONPATH: sdkFolder };
const readTables = (...args: string[]) =>
  JSON.parse(
    execFileSync(requirePython(), [scriptPath('field_tables.py'), ...args], { encoding: 'utf8', env }),
  ) as Tables;
const published = readTables();
const generated = readTables('sdk');
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

describe('the generated code of sdk/python is up to date (npm run proto)', () => {
  it.each(Object.entries(generated.messages))('%s', (message, fields) => {
    expect(listFields(message)).toEqual(fields);
  });

  it('has every message and enum of bus.proto', () => {
    const text = readFileSync(resolve(__dirname, '../../libs/contract/src/proto/bus.proto'), 'utf8');
    const listNames = (kind: string) => [...text.matchAll(new RegExp(`^${kind} (\\w+)`, 'gm'))].map(([, name]) => name);

    expect(Object.keys(generated.messages).sort()).toEqual(listNames('message').sort());
    expect(Object.keys(generated.enums).sort()).toEqual(listNames('enum').sort());
    const differing = Object.entries(generated.enums).filter(([name, values]) => {
      const found: unknown = named(name);
      return JSON.stringify(found instanceof Enum ? found.valuesById : {}) !== JSON.stringify(values);
    });
    expect(differing).toEqual([]);
  });

  it('and its version is the same in both files', () => {
    const read = (file: string) => readFileSync(join(sdkFolder, file), 'utf8');
    const version = /^version = "(.*)"$/m.exec(read('pyproject.toml'))?.[1];

    expect(read('svc_worker/_version.py')).toContain(`__version__ = "${version}"`);
  });
});
