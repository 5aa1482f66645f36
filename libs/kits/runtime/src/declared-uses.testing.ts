import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

/** An entry of a table such as `variables({ key: { name: 'NAME', … } })`, and the product files that read it. */
export interface DeclaredEntry {
  key: string;
  name: string;
  usedIn: readonly string[];
}

const repositoryRoot = resolve(__dirname, '../../../..');

/** Entry points of the services. Tests are not reachable from them, so a read by a test does not count. */
export const serviceEntryPoints = readdirSync(join(repositoryRoot, 'apps')).map((app) =>
  join(repositoryRoot, 'apps', app, 'src/main.ts'),
);

/**
 * The entries of the tables in a folder, each with the files that read it by a property access or by destructuring. Uses
 * the type checker, so that a property of the same name on another object does not count as a read. A read through a
 * structural type (`{ shadowEvalDisabled: boolean }`) is not recognized: use `Pick` of the table's own type.
 *
 * @param tables absolute path of the folder that declares the tables
 */
export function declaredEntries(tables: string, entryPoints: readonly string[] = serviceEntryPoints): DeclaredEntry[] {
  const program = ts.createProgram([...entryPoints], compilerOptions());
  const files = program.getSourceFiles().filter((file) => !program.isSourceFileFromExternalLibrary(file));
  const inTables = files.filter(({ fileName }) => fileName.startsWith(`${tables}/`));
  const entries = new Map<ts.Node, { key: string; name: string; usedIn: Set<string> }>();
  for (const file of inTables) {
    for (const [node, key, name] of entriesIn(file)) entries.set(node, { key, name, usedIn: new Set() });
  }
  const keys = new Set([...entries.values()].map(({ key }) => key));
  for (const file of files) {
    for (const declaration of readsIn(file, keys, program.getTypeChecker())) {
      entries.get(declaration)?.usedIn.add(file.fileName);
    }
  }
  return [...entries.values()].map(({ usedIn, ...entry }) => ({ ...entry, usedIn: [...usedIn] }));
}

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(repositoryRoot, 'tsconfig.base.json'), ts.sys.readFile) as {
    config: { compilerOptions: Record<string, unknown> };
  };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, repositoryRoot);
  return { ...options, configFilePath: join(repositoryRoot, 'tsconfig.base.json'), noEmit: true };
}

/** Properties whose value is an object literal with a literal `name`. */
function* entriesIn(node: ts.Node): Generator<[ts.Node, key: string, name: string]> {
  if (ts.isPropertyAssignment(node) && ts.isIdentifier(node.name) && ts.isObjectLiteralExpression(node.initializer)) {
    const name = nameIn(node.initializer);
    if (name !== undefined) yield [node, node.name.text, name];
  }
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  for (const child of children) yield* entriesIn(child);
}

function nameIn(literal: ts.ObjectLiteralExpression): string | undefined {
  for (const property of literal.properties) {
    if (!ts.isPropertyAssignment(property) || !ts.isStringLiteral(property.initializer)) continue;
    if (ts.isIdentifier(property.name) && property.name.text === 'name') return property.initializer.text;
  }
  return undefined;
}

/** Declarations of the properties that a file reads, of those with one of the given keys. */
function readsIn(file: ts.SourceFile, keys: ReadonlySet<string>, checker: ts.TypeChecker): ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    found.push(...(readProperty(node, keys, checker)?.declarations ?? []));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function readProperty(node: ts.Node, keys: ReadonlySet<string>, checker: ts.TypeChecker): ts.Symbol | undefined {
  if (ts.isPropertyAccessExpression(node) && keys.has(node.name.text)) return checker.getSymbolAtLocation(node.name);
  if (!ts.isBindingElement(node) || !ts.isObjectBindingPattern(node.parent)) return undefined;
  const name = node.propertyName ?? node.name;
  if (!ts.isIdentifier(name) || !keys.has(name.text)) return undefined;
  return checker.getTypeAtLocation(node.parent).getProperty(name.text);
}
