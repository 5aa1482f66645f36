import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The files that a generator reads. Paths are relative to the root. */
export interface Repository {
  read(path: string): string | undefined;
  /** Names in a folder; none if it is no folder. */
  list(folder: string): string[];
}

/** Whole files to write, by path. */
export type Changes = ReadonlyMap<string, string>;

/** A request that cannot be fulfilled; the message is for the person who made it. */
export class Refusal extends Error {}

export const repositoryAt = (root: string): Repository => ({
  read: (path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined),
  list: (folder) =>
    statSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory() ? readdirSync(join(root, folder)) : [],
});

/** The repository as it will be once the changes are written. */
export const withChanges = (repository: Repository, changes: Changes): Repository => ({
  read: (path) => changes.get(path) ?? repository.read(path),
  list: (folder) => [
    ...new Set([
      ...repository.list(folder),
      ...[...changes.keys()].filter((path) => path.startsWith(`${folder}/`)).map((path) => firstPart(path, folder)),
    ]),
  ],
});

const firstPart = (path: string, folder: string): string => path.slice(folder.length + 1).split('/')[0] ?? '';

export function write(root: string, changes: Changes): void {
  for (const [path, text] of changes) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** @throws Refusal when there is no such file */
export function required(repository: Repository, path: string): string {
  const text = repository.read(path);
  if (text === undefined) throw new Refusal(`${path} does not exist`);
  return text;
}

/**
 * Inserts text before the first `anchor` that follows `from`.
 *
 * @throws Refusal when one of them is missing: the file has another shape than the generator knows
 */
export function insertBefore(text: string, path: string, anchor: string, inserted: string, from = ''): string {
  const start = text.indexOf(from);
  const at = start < 0 ? -1 : text.indexOf(anchor, start + from.length);
  if (at < 0)
    throw new Refusal(`${path} has no place for the new row: expected ${JSON.stringify(`${from}…${anchor}`)}`);
  return text.slice(0, at) + inserted + text.slice(at);
}

/** Adds an import after the last import statement of a file. */
export function addImport(text: string, path: string, statement: string): string {
  if (text.includes(statement)) return text;
  const lines = text.split('\n');
  const last = lines.findLastIndex((line) => line.startsWith('import ') || line.startsWith('} from '));
  if (last < 0) throw new Refusal(`${path} has no imports to add one to`);
  return [...lines.slice(0, last + 1), statement, ...lines.slice(last + 1)].join('\n');
}
