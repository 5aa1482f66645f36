import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Namespace, parse, Type, type Field } from 'protobufjs';

const folder = join(__dirname, '../../libs/contract/src/proto');
const files = ['bus.proto', 'kernel.proto', 'output.proto'];
const firstNumber = 1_000;

/** A field that this platform adds to a message of the protocol. */
export interface WireExtension {
  message: string;
  field: string;
  number: number;
  type: string;
  meaning: string;
}

/** Read from the .proto sources rather than the descriptor, which holds no comments. */
export const wireExtensions = (): WireExtension[] => files.flatMap((file) => extensionsIn(file));

function extensionsIn(file: string): WireExtension[] {
  const source = readFileSync(join(folder, file), 'utf8');
  const { root } = parse(source, { keepCase: true, alternateCommentMode: true });
  return listTypes(root).flatMap(({ name: message, fieldsArray }) =>
    fieldsArray.filter(({ id }) => id >= firstNumber).map((field) => extension(file, message, field)),
  );
}

function extension(file: string, message: string, { name, id, type, repeated, comment }: Field): WireExtension {
  if (!comment) throw new Error(`${file}: ${message}.${name} is an extension and needs a comment`);
  const meaning = comment.replaceAll('\n', ' ');
  return { message, field: name, number: id, type: repeated ? `repeated ${type}` : type, meaning };
}

const listTypes = (space: Namespace): Type[] =>
  space.nestedArray.flatMap((inner) =>
    inner instanceof Type ? [inner, ...listTypes(inner)] : inner instanceof Namespace ? listTypes(inner) : [],
  );
